#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# late_mix.sh - late_mix in ten situations.
. "$(dirname "$0")/lib.sh"
MT_COUNT=yes MT_TIMEOUT=30

while read -r ranks before on; do
    mt_job sim -n "$ranks" "$MT_BIN/late_mix" --before="$before" --on="$on" \
        >"$mt_tmp/out" 2>"$mt_tmp/err" ||
        mt_bad "$ranks ranks, $before calls, CUDA on $on: status $?: $(
            head -5 "$mt_tmp/err")"
    [ "$(mt_coax_lines "$mt_tmp/err")" -eq 0 ] ||
        mt_bad "Coax speaks: $(cat "$mt_tmp/err")"
done <<'END'
2 0 first
2 1 last
2 3 all
2 6 first
3 0 last
3 1 first
3 2 last
3 5 first
3 7 all
3 8 last
END
mt_end
