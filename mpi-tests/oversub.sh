#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# oversub.sh - 8 ranks on 2 cores: 200 allreduces of 4 KiB through the engine,
# which yields by itself, take at most 3 times as long as in MPICH with the
# yielding test preload. Interleaved launches, medians.
. "$(dirname "$0")/lib.sh"

ROUNDS=5
for round in $(seq $ROUNDS); do
    mt_job plain -n 8 taskset -c 0,1 "$MT_BIN/oversub" >"$mt_tmp/out" ||
        mt_bad "the job of MPICH failed"
    sed -n 's/^us //p' "$mt_tmp/out" >>"$mt_tmp/mpich"
    MT_YIELD=no mt_job host -genv COAX_SMALL 0 -genv COAX_STATS 1 -n 8 \
        taskset -c 0,1 "$MT_BIN/oversub" >"$mt_tmp/out" 2>"$mt_tmp/err" ||
        mt_bad "the job of Coax failed: $(tail -3 "$mt_tmp/err")"
    sed -n 's/^us //p' "$mt_tmp/out" >>"$mt_tmp/coax"
    # Every call of 4 KiB went through the engine.
    grep -i 'allreduce' "$mt_tmp/err" | grep -q -i 'engine' ||
        mt_bad "round $round: the statistics do not name the engine"
    grep -i 'allreduce' "$mt_tmp/err" | grep -q -i -e 'passed' -e 'staged' &&
        mt_bad "round $round: some calls did not take the engine"
done

median()
{
    sort -n "$1" | sed -n "$(((ROUNDS + 1) / 2))p"
}

mpich=$(median "$mt_tmp/mpich") coax=$(median "$mt_tmp/coax")
if [ -z "$mpich" ] || [ -z "$coax" ]; then
    mt_bad "no times"
else
    echo "median: MPICH $mpich us, Coax $coax us"
    echo "MPICH: $(sort -n "$mt_tmp/mpich" | tr '\n' ' ')"
    echo "Coax: $(sort -n "$mt_tmp/coax" | tr '\n' ' ')"
    [ "$coax" -le $((3 * mpich)) ] ||
        mt_bad "the engine takes more than 3 times as long"
fi
mt_end
