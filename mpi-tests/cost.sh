#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cost.sh - instructions that Coax adds to a call in a job without a GPU: at
# most 100 on MPI_COMM_WORLD, at most 150 with nine communicators in rotation.
#
# Counted by callgrind in one run: cost of libcoax.so and of all that it calls,
# except the MPI library's own function.
. "$(dirname "$0")/lib.sh"
MT_YIELD=no MT_TIMEOUT=100

[ -x "$MT_VALGRIND" ] || mt_skip "valgrind is not installed"
[ -x "$MT_BIN/cost" ] || mt_skip "valgrind/callgrind.h was not there to build with"

mt_job auto -n 2 "$MT_VALGRIND" --tool=callgrind \
    --callgrind-out-file="$mt_tmp/cg.%q{PMI_RANK}" "$MT_BIN/cost" \
    >"$mt_tmp/out" 2>"$mt_tmp/err" || {
    mt_bad "the job failed"
    tail -20 "$mt_tmp/err"
    mt_end
}

profiles=0
for file in "$mt_tmp"/cg.[01].[0-9]*; do
    grep -q 'Trigger: Client Request' "$file" || continue
    awk -f "$MT_SRC/callgrind.awk" "$file" >"$mt_tmp/cost"
    read -r label ours library <"$mt_tmp/cost"
    func=${label%%-*} calls=${label##*-} comms=${label#*-}
    comms=${comms%%-*}
    limit=100
    [ "$comms" -gt 1 ] && limit=150
    profiles=$((profiles + 1))
    echo "$func, $comms communicators: $((ours / calls)) instructions a call"
    if [ "$library" -ne "$calls" ]; then
        mt_bad "$func: $library of $calls calls reached the MPI library"
    elif [ "$ours" -lt "$calls" ]; then
        mt_bad "$func: nothing of libcoax.so was seen"
    elif [ "$ours" -gt $((limit * calls)) ]; then
        mt_bad "$func, $comms communicators: more than $limit"
        cat "$mt_tmp/cost"
    fi
done
# 3 functions x 2 sets of communicators x 2 ranks
[ "$profiles" -eq 12 ] || mt_bad "$profiles profiles instead of 12"
mt_end
