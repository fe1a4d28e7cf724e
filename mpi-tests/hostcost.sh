#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hostcost.sh - what Coax adds to a small collective on host buffers in a job
# that uses GPUs: at most 5 % or 150 ns, whichever is larger.
#
# Rounds of three launches of one binary: MPI alone, under Coax, MPI alone
# again (the A/A control). Judged are medians over all rounds. Where a case is
# above the bound, or the control is, the machine may have been busy: then more
# rounds follow, and the verdict is over all of them, the first ones included.
. "$(dirname "$0")/lib.sh"
MT_YIELD=no MT_TIMEOUT=150

rounds=0
round()
{
    rounds=$((rounds + 1))
    for kind in a b c; do
        mode=plain engage=
        [ $kind = b ] && mode=sim engage=--engage
        mt_job $mode -genv LD_LIBRARY_PATH "$MT_LIB/coax/simgpu" -n 2 \
            "$MT_BIN/hostcost" $engage >"$mt_tmp/out" 2>"$mt_tmp/err" || {
            mt_bad "round $rounds: a job failed"
            tail -5 "$mt_tmp/err"
            mt_end
        }
        sed -n "s/^\([a-z_]*\.[0-9]*\.[^ ]*\) \([0-9.]*\)$/\1 $rounds $kind \2/p" \
            "$mt_tmp/out" >>"$mt_tmp/times"
    done
}

for _ in 1 2 3 4 5; do
    round
done
while awk -f "$MT_SRC/hostcost.awk" "$mt_tmp/times" >"$mt_tmp/table" &&
    grep -q -e ABOVE -e NOISY "$mt_tmp/table" && [ $rounds -lt 90 ]; do
    round
done
cat "$mt_tmp/table"
echo "$rounds rounds"
# 5 functions x (3 sizes of one area + 3 other areas) x 2 communicators, and
# 4 functions x 4 areas x 2 communicators
[ "$(grep -c -e '\.world' -e '\.self' "$mt_tmp/table")" -eq 92 ] ||
    mt_bad "not 92 cases"
grep -q ABOVE "$mt_tmp/table" && mt_bad "Coax adds more than 5 % and 150 ns"
if [ "$mt_failures" -eq 0 ] && grep -q NOISY "$mt_tmp/table"; then
    mt_skip "MPI alone differs from itself by more than the bound: NOT RUN"
fi
mt_end
