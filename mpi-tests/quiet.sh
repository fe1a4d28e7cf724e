#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# quiet.sh - a job without a GPU is the same with and without the preload:
# output, exit status, mapped files, descriptors, threads, children.
. "$(dirname "$0")/lib.sh"
MT_YIELD=no

for mode in plain auto; do
    dir=$mt_tmp/$mode
    mkdir "$dir"
    mt_job "$mode" -genv MT_SCRATCH "$dir" -n 2 "$MT_BIN/quiet" \
        >"$dir/out" 2>"$dir/err"
    echo "exit $?" >"$dir/status"
    # The ranks' lines come in any order.
    for stream in out err; do
        sort "$dir/$stream" >"$dir/$stream.sorted"
    done
    for rank in 0 1; do
        [ -s "$dir/state.$rank" ] || mt_bad "$mode: rank $rank left no state"
        grep '^maps' "$dir/state.$rank" | sort -u >"$dir/maps.$rank"
        grep -v '^maps' "$dir/state.$rank" >"$dir/counts.$rank"
    done
done

same()
{
    if ! cmp -s "$mt_tmp/plain/$1" "$mt_tmp/auto/$1"; then
        mt_bad "$2 differs with the preload:"
        diff "$mt_tmp/plain/$1" "$mt_tmp/auto/$1"
    fi
}

grep -q 'exit 3' "$mt_tmp/plain/status" || mt_bad "the program is not itself"
same out.sorted stdout
same err.sorted stderr
same status "exit status"
for rank in 0 1; do
    same counts.$rank "what rank $rank holds"
    echo "maps $MT_LIB/libcoax.so" | cat - "$mt_tmp/plain/maps.$rank" |
        sort -u >"$mt_tmp/want"
    if ! cmp -s "$mt_tmp/want" "$mt_tmp/auto/maps.$rank"; then
        mt_bad "rank $rank maps more, or less, than libcoax.so:"
        diff "$mt_tmp/want" "$mt_tmp/auto/maps.$rank"
    fi
done
mt_end
