#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# state_tiny.sh - Coax's engine is the first to load UCX, which takes signals.
. "$(dirname "$0")/lib.sh"

COAX_SCOPE=all COAX_STATS=on MT_SCRATCH=$mt_tmp \
    LD_PRELOAD=$MT_BIN/libshim_ucp.so:$MT_LIB/libcoax.so \
    "$MT_BIN/state_tiny" >"$mt_tmp/out" 2>"$mt_tmp/err" ||
    mt_bad "exit status $?"
cat "$mt_tmp/out" "$mt_tmp/err"
grep -q 'never loaded' "$mt_tmp/err" && mt_bad "UCX was not loaded"
grep -q 'allreduce.*engine' "$mt_tmp/err" || mt_bad "the engine did nothing"
mt_end
