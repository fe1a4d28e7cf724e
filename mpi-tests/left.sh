#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# left.sh host|sim - after MPI_Finalize a process holds what it holds without
# Coax, and after the job the machine does: no process, descriptor, thread,
# shared memory or file of ours.
. "$(dirname "$0")/lib.sh"

mkdir "$mt_tmp/temporary"
# shellcheck disable=SC2012
shared()
{
    ls /dev/shm | sort
    ipcs -m 2>&1 | awk '$1 ~ /^0x/ { print $2, $3 }' | sort
}

run() # run NAME MODE ARGUMENTS...
{
    name=$1 mode=$2
    shift 2
    mkdir "$mt_tmp/$name"
    mt_job "$mode" -genv TMPDIR "$mt_tmp/temporary" \
        -genv MT_SCRATCH "$mt_tmp/$name" -n 2 "$@" \
        >"$mt_tmp/out" 2>"$mt_tmp/err" ||
        mt_bad "$name: exit status $?: $(cat "$mt_tmp/err")"
    for rank in 0 1; do
        sort "$mt_tmp/$name/left.$rank" >"$mt_tmp/$name/sorted.$rank"
    done
}

shared >"$mt_tmp/before"
case $1 in
host)
    run without plain "$MT_BIN/left"
    run with host "$MT_BIN/left"
    ;;
sim)
    run without plain -genv LD_LIBRARY_PATH "$MT_LIB/coax/simgpu" \
        "$MT_BIN/left" --gpu --copies
    run with sim "$MT_BIN/left" --gpu
    ;;
esac
for rank in 0 1; do
    [ -s "$mt_tmp/with/sorted.$rank" ] || mt_bad "rank $rank left no notes"
    if ! cmp -s "$mt_tmp/without/sorted.$rank" "$mt_tmp/with/sorted.$rank"; then
        mt_bad "rank $rank holds something else with Coax:"
        diff "$mt_tmp/without/sorted.$rank" "$mt_tmp/with/sorted.$rank"
    fi
done
[ -z "$(ls -A "$mt_tmp/temporary")" ] ||
    mt_bad "temporary files: $(ls -A "$mt_tmp/temporary")"
shared >"$mt_tmp/after"
# Other jobs of this machine may come meanwhile: only ours would carry the name.
diff "$mt_tmp/before" "$mt_tmp/after" | grep -i '^>.*coax' &&
    mt_bad "the shared memory above is left"
for pid in $(pgrep -f "$mt_tmp/" | grep -v "^$$\$"); do
    [ "$(readlink "/proc/$pid/exe")" = "$MT_BIN/left" ] &&
        mt_bad "process $pid is left"
done
mt_end
