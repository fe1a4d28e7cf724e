#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# foreign.sh openmpi|none - preloaded where it does not belong: under an Open MPI
# program, and under programs without any MPI.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=40
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
front=$MT_LIB/libcoax.so

under_openmpi()
{
    [ -x "$MT_BIN/foreign" ] && [ -x "$MT_OMPIRUN" ] ||
        mt_skip "mpicc.openmpi or mpirun.openmpi is not installed"
    for list in "" "$front"; do
        timeout -k 5 $MT_TIMEOUT "$MT_OMPIRUN" --oversubscribe -n 2 \
            ${list:+-x LD_PRELOAD=$list} "$MT_BIN/foreign" </dev/null \
            >"$mt_tmp/out" 2>"$mt_tmp/err" ||
            mt_bad "preload '$list': exit status $?: $(tail -5 "$mt_tmp/err")"
        [ "$(grep -c ': 0 wrong' "$mt_tmp/out")" -eq 2 ] ||
            mt_bad "preload '$list': $(cat "$mt_tmp/out" "$mt_tmp/err")"
    done
    mt_one_line "$mt_tmp/err" "under Open MPI" 'inactive.*MPICH\|MPICH.*inactive'
}

# Same output, status, nothing said, nothing of ours or MPI's mapped.
without_mpi()
{
    LD_PRELOAD=$front sh -c 'echo one; echo two >&2; exit 9' >"$mt_tmp/out" \
        2>"$mt_tmp/err"
    [ $? -eq 9 ] || mt_bad "another exit status"
    [ "$(cat "$mt_tmp/out" "$mt_tmp/err")" = "one
two" ] || mt_bad "another output: $(cat "$mt_tmp/out" "$mt_tmp/err")"
    LD_PRELOAD=$front cat /proc/self/maps >"$mt_tmp/maps"
    grep -q 'libcoax\.so' "$mt_tmp/maps" || mt_bad "not preloaded at all"
    if grep -e libcoax-engine -e libmpi -e libuc -e libcuda "$mt_tmp/maps"; then
        mt_bad "these came along"
    fi
    [ "$(seq 20000 | LD_PRELOAD=$front sort -rn | head -1)" = 20000 ] ||
        mt_bad "sort sorts no more"
}

case $1 in
openmpi) under_openmpi ;;
none) without_mpi ;;
esac
mt_end
