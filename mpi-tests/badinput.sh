#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# badinput.sh - wrong settings, wrong installations, wrong commands: one line a
# job that says what to do; the program runs on plain MPI unless the user forced
# something.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=30
agree=$MT_BIN/agree

launch()
{
    mt_job "$@" >"$mt_tmp/out" 2>"$mt_tmp/err"
    status=$?
}

# The program has run to its end, with right results.
ran()
{
    [ "$status" -eq 0 ] || mt_bad "$1: exit status $status"
    grep -q ' 0 failures' "$mt_tmp/out" || mt_bad "$1: no result"
}

# bad MODE NAME VALUE PATTERN: a value that cannot be used.
bad()
{
    launch "$1" -genv "$2" "$3" -n 2 "$agree"
    ran "$1: $2=$3"
    mt_one_line "$mt_tmp/err" "$1: $2=$3" "$4"
}

for mode in auto host; do
    bad $mode COAX_SMALL banana 'COAX_SMALL.*banana'
    bad $mode COAX_TIMEOUT -3 'COAX_TIMEOUT.*-3'
    bad $mode COAX maybe "COAX.*maybe.*on, off"
    bad $mode COAX_STATS perhaps 'COAX_STATS.*perhaps'
    bad $mode COAX_DEBUG loud 'COAX_DEBUG.*loud.*trace'
    bad $mode COAX_SCOP all 'COAX_SCOP.*COAX_SCOPE'
    bad $mode COAX_TIMOUT 5 'COAX_TIMOUT.*COAX_TIMEOUT'
done
bad auto COAX_SCOPE galaxy 'COAX_SCOPE.*galaxy.*auto, device, all'
bad host COAX_GPU some 'COAX_GPU.*some.*auto, yes, no'

# Two at once, and first on halves of the job: still one line.
launch host -genv COAX_SMALL x -genv COAX_SCOP y -n 4 "$agree" --first=halves
ran "two bad settings"
mt_one_line "$mt_tmp/err" "two bad settings" 'COAX_S'

# Alone first, where no rank knows of another.
launch host -genv COAX_FOO 1 -n 3 "$agree" --first=self
ran "unknown setting, MPI_COMM_SELF first"
mt_one_line "$mt_tmp/err" "unknown setting, MPI_COMM_SELF first" 'COAX_FOO'

# forced VALUE PATTERN [OPTIONS]: an error, never a silent fallback.
forced()
{
    # shellcheck disable=SC2086
    launch host -genv COAX_ALGO "$1" -n 2 "$agree" ${3:-}
    [ "$status" -ne 0 ] || [ -n "${3:-}" ] ||
        mt_bad "COAX_ALGO=$1: the program went on"
    mt_one_line "$mt_tmp/err" "COAX_ALGO=$1" "$2"
}

forced allreduce:nosuch 'nosuch.*ring'
forced 'allreduce:ring;bcast:nosuch' 'nosuch.*chain'
forced allreduce 'COAX_ALGO'
forced reduce:ring 'COAX_ALGO.*reduce'
forced allreduce:nosuch 'nosuch' --errors
grep -q '^error class' "$mt_tmp/out" ||
    mt_bad "MPI_ERRORS_RETURN: no error came back for a forced algorithm"
launch auto -genv COAX_ALGO allreduce:nosuch -n 2 "$agree"
mt_one_line "$mt_tmp/err" "forced in a job without a GPU" 'nosuch'

# No engine library beside libcoax.so.
mkdir "$mt_tmp/lone" "$mt_tmp/broken"
cp "$MT_LIB/libcoax.so" "$mt_tmp/lone"
cp "$MT_LIB/libcoax.so" "$mt_tmp/broken"
echo "not a library" >"$mt_tmp/broken/libcoax-engine.so"
for place in lone broken; do
    list=$(mt_preload host | sed "s|$MT_LIB/|$mt_tmp/$place/|")
    launch host -genv LD_PRELOAD "$list" -n 2 "$agree"
    ran "$place front"
    mt_one_line "$mt_tmp/err" "$place front" 'libcoax-engine.so\|the engine'
done
launch host -genv LD_PRELOAD "$(mt_preload host |
    sed "s|$MT_LIB/|$mt_tmp/lone/|")" -genv COAX_ALGO allreduce:ring -n 2 \
    "$agree"
[ "$status" -ne 0 ] || mt_bad "forced without an engine: the program went on"
mt_one_line "$mt_tmp/err" "forced without an engine" 'libcoax-engine.so'
mt_end
