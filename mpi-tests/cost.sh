#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cost.sh auto|sim - instructions that Coax adds to a call on small host
# buffers: in a job without a GPU (auto) at most 100 on MPI_COMM_WORLD and 150
# with nine communicators in rotation; in one that uses GPUs (sim) at most 300,
# and 800 where both buffers were mapped and the driver is asked for each, which
# counts, too. hostcost.sh compares times.
#
# Counted by callgrind in one run: cost of libcoax.so and of all that it calls,
# except the MPI library's own function.
. "$(dirname "$0")/lib.sh"
MT_YIELD=no MT_TIMEOUT=100

[ -x "$MT_VALGRIND" ] || mt_skip "valgrind is not installed"
[ -x "$MT_BIN/cost" ] || mt_skip "valgrind/callgrind.h was not there to build with"

one=100 many=150 mapped=150 gpu=
[ "$1" = sim ] && one=300 many=300 mapped=800 gpu=--gpu
# shellcheck disable=SC2086
mt_job "$1" -n 2 "$MT_VALGRIND" --tool=callgrind \
    --callgrind-out-file="$mt_tmp/cg.%q{PMI_RANK}" "$MT_BIN/cost" $gpu \
    >"$mt_tmp/out" 2>"$mt_tmp/err" || {
    mt_bad "the job failed"
    tail -20 "$mt_tmp/err"
    mt_end
}

profiles=0
for file in "$mt_tmp"/cg.[01].[0-9]*; do
    grep -q 'Trigger: Client Request' "$file" || continue
    awk -v names='Allreduce|Bcast|Allgather|Reduce' \
        -f "$MT_SRC/callgrind.awk" "$file" >"$mt_tmp/cost"
    read -r label ours library <"$mt_tmp/cost"
    func=${label%%-*} calls=${label##*-} comms=${label#*-}
    comms=${comms%%-*}
    limit=$one
    [ "$comms" -gt 1 ] && limit=$many
    [ "$func" = Mapped ] && limit=$mapped
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
# 4 functions and mapped memory x 2 sets of communicators x 2 ranks
[ "$profiles" -eq 20 ] || mt_bad "$profiles profiles instead of 20"
mt_end
