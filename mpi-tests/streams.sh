#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# streams.sh - the order of the program's work and a call's: by the engine,
# staged, and on ranks without the engine; and beside a capture.
. "$(dirname "$0")/lib.sh"

run() # WHAT [hydra options] -- [arguments]
{
    what=$1
    shift
    options=
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    # shellcheck disable=SC2086
    mt_job sim -genv SIMGPU_DEVICES 2 $options -n 2 "$MT_BIN/streams" "$@" \
        >"$mt_tmp/out" 2>"$mt_tmp/err" || {
        mt_bad "$what: exit status $?"
        cat "$mt_tmp/out" "$mt_tmp/err"
    }
}

# A front without its engine. It says that the engine is missing.
lone=$mt_tmp/lone
mkdir "$lone" && cp "$MT_LIB/libcoax.so" "$lone"
preload=$(mt_preload sim | sed "s|[^:]*/libcoax.so|$lone/libcoax.so|")

for sync in default device none; do
    run "$sync" -genv COAX_SYNC $sync -- --sync=$sync
    [ "$(mt_coax_lines "$mt_tmp/err")" -eq 0 ] || mt_bad "$sync: a message"
    run "$sync, no engine" -genv COAX_SYNC $sync -genv LD_PRELOAD "$preload" \
        -- --sync=$sync
    mt_one_line "$mt_tmp/err" "$sync, no engine" 'engine'
done
for kind in nonblocking blocking thread; do
    run "capture $kind" -- --capture=$kind
    if [ $kind = nonblocking ]; then
        [ "$(mt_coax_lines "$mt_tmp/err")" -eq 0 ] || mt_bad "$kind: a message"
    else
        mt_one_line "$mt_tmp/err" "capture $kind" 'captures a graph'
    fi
    run "capture $kind, no engine" -genv LD_PRELOAD "$preload" -- \
        --capture=$kind
done
mt_end
