#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cost_tables.sh - instructions that Coax adds to a call which it only stages or
# refuses: at most 40 on a node without a GPU, at most 100 on one with a GPU
# while the program has not loaded the driver. Counted like cost.sh.
. "$(dirname "$0")/lib.sh"
MT_YIELD=no MT_TIMEOUT=100

[ -x "$MT_VALGRIND" ] || mt_skip "valgrind is not installed"
[ -x "$MT_BIN/cost_tables" ] ||
    mt_skip "valgrind/callgrind.h was not there to build with"

# count NODE LIMIT: NODE is no or yes, as in COAX_GPU
count()
{
    rm -f "$mt_tmp"/cg.*
    timeout -k 5 "$MT_TIMEOUT" "$MT_MPIRUN" -genv LD_PRELOAD \
        "$(mt_preload auto)" -genv COAX_GPU "$1" -n 1 "$MT_VALGRIND" \
        --tool=callgrind --callgrind-out-file="$mt_tmp/cg" \
        "$MT_BIN/cost_tables" >"$mt_tmp/out" 2>"$mt_tmp/err" </dev/null || {
        mt_bad "COAX_GPU=$1: the job failed"
        tail -20 "$mt_tmp/err"
    }
    profiles=0
    for file in "$mt_tmp"/cg.*; do
        grep -q 'Trigger: Client Request' "$file" || continue
        awk -v names='Reduce|Gatherv|Send|Sendrecv|Ibcast' \
            -f "$MT_SRC/callgrind.awk" "$file" >"$mt_tmp/cost"
        read -r label ours library <"$mt_tmp/cost"
        func=${label%%-*} calls=${label##*-}
        profiles=$((profiles + 1))
        echo "COAX_GPU=$1, $func: $((ours / calls)) instructions a call"
        if [ "$library" -ne "$calls" ]; then
            mt_bad "$func: $library of $calls calls reached the MPI library"
        elif [ "$ours" -lt "$calls" ] || [ "$ours" -gt $(($2 * calls)) ]; then
            mt_bad "COAX_GPU=$1, $func: not between 1 and $2"
            cat "$mt_tmp/cost"
        fi
    done
    [ "$profiles" -eq 5 ] || mt_bad "$profiles profiles instead of 5"
}

count no 40
count yes 100
mt_end
