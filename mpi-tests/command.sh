#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# command.sh - `coax run` under mpirun: a program as given, and what cannot be
# run gets one line a job.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=30
[ -x "$MT_COAX_CLI" ] || mt_skip "no coax command in this build"

launch()
{
    timeout -k 5 $MT_TIMEOUT "$MT_MPIRUN" "$@" </dev/null >"$mt_tmp/out" \
        2>"$mt_tmp/err"
    status=$?
}

one_line()
{
    lines=$(grep -c '^coax' "$mt_tmp/err")
    [ "$lines" -eq 1 ] ||
        mt_bad "$1: $lines lines: $(cat "$mt_tmp/err")"
    grep -q -i -e "$2" "$mt_tmp/err" ||
        mt_bad "$1: nothing about '$2': $(cat "$mt_tmp/err")"
}

launch -n 3 "$MT_COAX_CLI" run "$MT_BIN/agree"
[ "$status" -eq 0 ] || mt_bad "run: exit status $status"
[ "$(mt_coax_lines "$mt_tmp/err")" -eq 0 ] ||
    mt_bad "run: it speaks: $(cat "$mt_tmp/err")"
launch -n 3 "$MT_COAX_CLI" run --simgpu "$MT_BIN/agree" --gpu
[ "$status" -eq 0 ] || mt_bad "run --simgpu: $(tail -3 "$mt_tmp/err")"

launch -n 2 "$MT_COAX_CLI" run
[ "$status" -ne 0 ] || mt_bad "run without a program: exit status 0"
one_line "run without a program" program
launch -n 2 "$MT_COAX_CLI" run "$mt_tmp/nothing-here"
[ "$status" -ne 0 ] || mt_bad "run of nothing: exit status 0"
one_line "run of a file that is not there" nothing-here

if [ -x "$MT_BIN/static" ]; then
    launch -n 2 "$MT_COAX_CLI" run "$MT_BIN/static"
    grep -q 'static program' "$mt_tmp/out" ||
        mt_bad "a static program does not run: $(cat "$mt_tmp/err")"
    one_line "run of a static program" static
else
    echo "no static C library here: that case is left out"
fi
mt_end
