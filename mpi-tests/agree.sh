#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# agree.sh - ranks of one job that are not set up alike: the result is right,
# and one line says what is the matter.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=40
agree=$MT_BIN/agree

# judge STATUS WHAT PATTERN: the job of $mt_tmp/out and err went well, with one
# line of Coax.
judge()
{
    [ "$1" -eq 0 ] || mt_bad "$2: exit status $1: $(tail -3 "$mt_tmp/err")"
    grep -q ' 0 failures' "$mt_tmp/out" || mt_bad "$2: no result"
    mt_one_line "$mt_tmp/err" "$2" "$3"
}

# one_rank MODE WHAT PATTERN PROGRAM-OPTIONS HYDRA-OPTIONS...: of three ranks,
# rank 1 alone gets the hydra options.
one_rank()
{
    mode=$1 what=$2 pattern=$3 options=$4
    shift 4
    # shellcheck disable=SC2086
    mt_job "$mode" -n 1 "$agree" $options : -n 1 "$@" "$agree" $options : \
        -n 1 "$agree" $options >"$mt_tmp/out" 2>"$mt_tmp/err"
    judge $? "$what" "$pattern"
}

# A copy of the front without its engine.
mkdir "$mt_tmp/lone"
cp "$MT_LIB/libcoax.so" "$mt_tmp/lone"
lone=$(mt_preload host | sed "s|$MT_LIB/libcoax.so|$mt_tmp/lone/libcoax.so|")

for mode in host sim; do
    options=
    [ "$mode" = sim ] && options=--gpu
    one_rank $mode "$mode: COAX=off on rank 1" 'COAX=off.*rank 1' \
        "$options" -env COAX off
    one_rank $mode "$mode: another COAX_SMALL on rank 1" 'settings.*rank 1' \
        "$options" -env COAX_SMALL 1M
    one_rank $mode "$mode: another COAX_ALGO on rank 1" 'settings.*rank 1' \
        "$options" -env COAX_ALGO allreduce:ring
    one_rank $mode "$mode: no engine on rank 1" \
        'libcoax-engine.so.*missing.*rank 1' "$options" -env LD_PRELOAD "$lone"
    one_rank $mode "$mode: COAX=off on rank 1, halves first" 'COAX=off.*rank' \
        "$options --first=halves" -env COAX off
done

# The ranks that have agreed before do not leave the others alone with a line
# that all of them must make.
# Three ranks: one of them outside of the first pair.
mt_job sim -genv COAX_DEBUG info -n 3 "$agree" --gpu --first=pair \
    >"$mt_tmp/out" 2>"$mt_tmp/err"
judge $? "COAX_DEBUG=info, two of three first" 'info: .* ranks\? on 1 node'

# All off: nothing to say, and device buffers still work.
mt_job sim -genv COAX off -n 3 "$agree" --gpu >"$mt_tmp/out" 2>"$mt_tmp/err" ||
    mt_bad "COAX=off on all ranks: $(tail -3 "$mt_tmp/err")"
[ "$(mt_coax_lines "$mt_tmp/err")" -eq 0 ] ||
    mt_bad "COAX=off on all ranks: $(cat "$mt_tmp/err")"
mt_end
