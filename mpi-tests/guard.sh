#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# guard.sh - GPU memory for functions that cannot take it: an MPI error, and one
# line with the right names for each function and rank.
. "$(dirname "$0")/lib.sh"

mt_job sim -n 3 "$MT_BIN/guard" --scratch="$mt_tmp" >"$mt_tmp/out" \
    2>"$mt_tmp/err" || {
    mt_bad "the job failed"
    grep -v '^coax: ' "$mt_tmp/err" | tail -20
}
sed -n 's/^expect //p' "$mt_tmp/out" | sort >"$mt_tmp/wanted"
sed -n 's/^coax: error: \[.* rank \([0-9]*\)\] \(MPI_[A-Za-z_]*\): argument \([a-z_]*\) is GPU memory (device 0), and this MPI cannot take it: .*/\1 \2 \3/p' \
    "$mt_tmp/err" | sort >"$mt_tmp/said"
diff "$mt_tmp/wanted" "$mt_tmp/said" >"$mt_tmp/diff" || {
    mt_bad "the messages differ (<: missing, >: should not be there)"
    head -20 "$mt_tmp/diff"
}
# 110 plain forms, 5 of them without a large one, on 3 ranks
n=$(wc -l <"$mt_tmp/said")
[ "$n" -eq 645 ] || mt_bad "$n messages"
[ "$(mt_coax_lines "$mt_tmp/err")" -eq "$n" ] || mt_bad "Coax said more"
grep '^mt:' "$mt_tmp/out"
mt_end
