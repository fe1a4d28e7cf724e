#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# bindings.sh LANGUAGE - each call of a program in some language is seen exactly
# once, by counters in front of Coax, behind it and at its wire: on host and
# device memory, run by the engine, staged, and passed.
. "$(dirname "$0")/lib.sh"
ranks=3

case $1 in
c) program=$MT_BIN/binding_c ;;
cxx) program=$MT_BIN/binding_cxx ;;
f08) program=$MT_BIN/binding_f08 ;;
use_mpi) program=$MT_BIN/binding_mpi ;;
mpif_h) program=$MT_BIN/binding_mpif ;;
local) program="$MT_BIN/binding_local $MT_BIN/libbinding_module.so" ;;
mpi4py)
    . "$(dirname "$0")/mpi4py.sh"
    program="$python $MT_SRC/binding_py.py"
    ;;
*) exit 2 ;;
esac
[ -x "${program%% *}" ] || mt_skip "no compiler for $1 was there to build with"

# Front counter, Coax, counter behind it; the engine's messages.
mt_preload()
{
    echo "$MT_BIN/libshim_ucp.so:$MT_BIN/libyield.so:$MT_BIN/libshim_front.so:$MT_LIB/libcoax.so:$MT_BIN/libshim_mpi.so"
}

# job MODE SMALL PROGRAM...: runs it; "calls" and "cost" lines in out, counters
# of rank 0 in line.
job()
{
    mode=$1 small=$2 gpu=
    shift 2
    if [ "$mode" = sim ]; then
        gpu="-genv MT_GPU 1"
        # Python is told by an option: the last argument of all.
        case $* in *.py) set -- "$@" --gpu ;; esac
    fi
    rm -f "$mt_tmp"/counts.*
    # shellcheck disable=SC2086
    mt_job "$mode" $gpu -genv COAX_SMALL "$small" -genv MT_SCRATCH "$mt_tmp" \
        -n $ranks "$@" >"$mt_tmp/out" 2>"$mt_tmp/err" ||
        mt_bad "$mode, small $small: exit status $?: $(cat "$mt_tmp/err")"
    [ "$(mt_coax_lines "$mt_tmp/err")" -eq 0 ] ||
        mt_bad "$mode, small $small: Coax speaks: $(cat "$mt_tmp/err")"
    line=$(cat "$mt_tmp/counts.0")
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^calls //p' "$mt_tmp/out")
    a=$1 b=$2 g=$3
}

want()
{
    [ "$line" = "$2" ] || mt_bad "$1: counted '$line', not '$2'"
}

for mode in host sim; do
    job $mode 0 "$MT_BIN/binding_c"
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^cost //p' "$mt_tmp/out")
    cost_a=$1 cost_b=$2 cost_g=$3
    [ "$cost_a" -gt 0 ] && [ "$cost_g" -gt 0 ] ||
        mt_bad "$mode: the engine sends nothing in C: $(cat "$mt_tmp/out")"
    # shellcheck disable=SC2086
    job $mode 0 $program
    want "$mode, engine" "front $a $b $g mpi 0 0 0 sends $((a * cost_a +
        b * cost_b + g * cost_g))"
done
# shellcheck disable=SC2086
job sim 1G $program
want "device, staged" "front $a $b $g mpi $a $b $g sends 0"
# shellcheck disable=SC2086
job auto 4K $program
want "host, passed" "front $a $b $g mpi $a $b $g sends 0"
mt_end
