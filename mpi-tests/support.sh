#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# support.sh - COAX_CUDA_SUPPORT, with GPUs and without; Debian's MPICH, which
# takes no GPU memory, is behind.
. "$(dirname "$0")/lib.sh"

# job MODE EXPECTED LINES [hydra options]: the program, and how much Coax says.
job()
{
    mode=$1 expected=$2 lines=$3 gpu=
    shift 3
    [ "$mode" = sim ] && gpu=--gpu
    case $* in
    *COAX_CUDA_SUPPORT\ yes* | *COAX_CUDA_SUPPORT\ no*) gpu="$gpu --early" ;;
    esac
    # shellcheck disable=SC2086
    mt_job "$mode" -n 2 "$@" "$MT_BIN/support" --expect="$expected" $gpu \
        >"$mt_tmp/out" 2>"$mt_tmp/err" || {
        mt_bad "$mode $*: the job failed"
        tail "$mt_tmp/err"
    }
    n=$(mt_coax_lines "$mt_tmp/err")
    [ "$n" -eq "$lines" ] || {
        mt_bad "$mode $*: $n lines of Coax instead of $lines"
        cat "$mt_tmp/err"
    }
}

job plain 0 0
job auto 0 0
job auto 1 0 -genv COAX_CUDA_SUPPORT yes
# a send is refused on both ranks
for setting in auto yes no; do
    expected=0
    [ $setting = yes ] && expected=1
    job sim $expected 2 -genv COAX_CUDA_SUPPORT $setting
done
job sim 1 2 -genv COAX_CUDA_SUPPORT yes -genv COAX off
job auto 0 1 -genv COAX_CUDA_SUPPORT perhaps
mt_end
