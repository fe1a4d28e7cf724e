#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fortran.sh - both Fortran bindings reach the engine, each call once.
. "$(dirname "$0")/lib.sh"
[ -x "$MT_BIN/fortran" ] || mt_skip "mpifort.mpich is not installed"

mt_job host -genv COAX_STATS 1 -genv COAX_SMALL 0 -n 3 "$MT_BIN/fortran" \
    >"$mt_tmp/out" 2>"$mt_tmp/err" || mt_bad "exit status $?"
[ "$(grep -c ': 0 wrong' "$mt_tmp/out")" -eq 3 ] ||
    mt_bad "wrong results: $(cat "$mt_tmp/out")"

# calls FUNCTION: how many the engine has run.
calls()
{
    awk -v func="$1" '$2 == func && /engine/ {
        for (i = 3; i <= NF; i++) # after the size class
            if ($i == "B" || $i == "KiB" || $i == "MiB") { n += $(i + 1); next }
    } END { print n + 0 }' "$mt_tmp/err"
}

for want in allreduce:3 bcast:2 allgather:1; do
    [ "$(calls "${want%:*}")" -eq "${want#*:}" ] ||
        mt_bad "${want%:*}: $(calls "${want%:*}") calls, not ${want#*:}"
done
[ "$mt_failures" -eq 0 ] || cat "$mt_tmp/err"
mt_end
