#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# stats.sh - COAX_STATS=1: a table at the end, by rank 0, on stderr.
. "$(dirname "$0")/lib.sh"

rows()
{
    grep '^coax: ' "$mt_tmp/err" | grep -i "$1"
}

mt_job sim -genv COAX_STATS 1 -genv COAX_ALGO allreduce:ring -n 3 \
    "$MT_BIN/agree" --gpu >"$mt_tmp/out" 2>"$mt_tmp/err" ||
    mt_bad "the job failed"
rows allreduce | grep -q 'engine.*ring' || mt_bad "no row of allreduce by ring"
rows bcast | grep -q 'engine' || mt_bad "no row of bcast by the engine"
rows bcast | grep -q 'staged' || mt_bad "no row of a small bcast, staged"
# 1 and 40000 doubles: two size classes of allreduce, one call each.
[ "$(rows '^coax: allreduce' | wc -l)" -eq 2 ] ||
    mt_bad "not two rows of allreduce"
rows '^coax: allreduce' | grep -q ' 320000 ' || mt_bad "no row of 320000 bytes"
[ "$(rows 'function' | wc -l)" -le 1 ] || mt_bad "more than one table"
[ -s "$mt_tmp/out" ] && grep -q '^coax' "$mt_tmp/out" &&
    mt_bad "the table is on stdout"

mt_job auto -genv COAX_STATS 1 -n 2 "$MT_BIN/agree" >"$mt_tmp/out" \
    2>"$mt_tmp/err" || mt_bad "the job without a GPU failed"
rows '^coax: allreduce' | grep -q 'passed.*no GPU' ||
    mt_bad "no reason why calls passed"

# COAX_SCOPE=device: host buffers are MPI's, device buffers the engine's.
mt_job sim -genv COAX_STATS 1 -genv COAX_SCOPE device -n 2 "$MT_BIN/agree" \
    --cuda >"$mt_tmp/out" 2>"$mt_tmp/err" || mt_bad "scope device: host failed"
rows '^coax: ' | grep -q 'engine:' && mt_bad "scope device: engine on host"
rows '^coax: allreduce' | grep -q 'passed.*COAX_SCOPE=device' ||
    mt_bad "scope device: no reason why a host buffer passed"
mt_job sim -genv COAX_STATS 1 -genv COAX_SCOPE device -n 2 "$MT_BIN/agree" \
    --gpu >"$mt_tmp/out" 2>"$mt_tmp/err" || mt_bad "scope device failed"
rows '^coax: allreduce' | grep -q 'engine:' || mt_bad "scope device: no engine"
[ "$mt_failures" -eq 0 ] || cat "$mt_tmp/err"
mt_end
