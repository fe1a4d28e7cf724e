#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# errors.sh - erroneous calls get the same answer with and without Coax.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=15

# answers NAME MODE OPTIONS...: what the program prints, and its exit status.
answers()
{
    name=$1 mode=$2
    shift 2
    mt_job "$mode" "$@" >"$mt_tmp/$name" 2>"$mt_tmp/$name.err"
    echo "exit status $?" >>"$mt_tmp/$name"
}

same()
{
    if ! cmp -s "$mt_tmp/$1" "$mt_tmp/$2"; then
        mt_bad "$2 answers otherwise than $1:"
        diff "$mt_tmp/$1" "$mt_tmp/$2"
        tail -3 "$mt_tmp/$2.err"
    fi
}

errors=$MT_BIN/errors
answers plain plain -n 2 "$errors"
answers host host -genv COAX_SMALL 0 -n 2 "$errors"
answers forced host -genv COAX_ALGO "allreduce:ring;bcast:chain;allgather:ring" \
    -n 2 "$errors"
answers device sim -genv COAX_SMALL 0 -n 2 "$errors" --gpu
answers off sim -genv COAX off -n 2 "$errors" --gpu
grep -q 'class 7' "$mt_tmp/plain" || mt_bad "the program is not itself"
for run in host forced device off; do
    same plain $run
done
answers plain.negative plain -n 2 "$errors" --negative
answers host.negative host -n 2 "$errors" --negative
same plain.negative host.negative
mt_end
