#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# missing.sh - the preload on some ranks only: after COAX_TIMEOUT one line names
# the rank that has not joined. The job itself cannot go on, and is ended here.
. "$(dirname "$0")/lib.sh"
agree=$MT_BIN/agree
MT_TIMEOUT=40

# Starts the job in the background and waits for the line or its end.
try()
{
    what=$1 pattern=$2
    shift 2
    : >"$mt_tmp/err"
    mt_job host -genv COAX_TIMEOUT 2 "$@" >"$mt_tmp/out" 2>"$mt_tmp/err" &
    job=$!
    while kill -0 "$job" 2>/dev/null &&
        ! grep -q '^coax: ' "$mt_tmp/err"; do
        sleep 0.2 # polls; the job has its own limit
    done
    # Others would speak at their own limit, seconds later: one line is all.
    sleep 3
    pkill_tree "$job"
    wait "$job"
    mt_one_line "$mt_tmp/err" "$what" "$pattern"
}

# Ends the launcher that this script started: timeout(1) passes the signal on,
# hydra ends the ranks.
pkill_tree()
{
    for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        kill "$child" 2>/dev/null
    done
    kill "$1" 2>/dev/null
}

only=$(mt_preload plain)
try "rank 1 of 3 without the preload" 'rank 1 .*has not joined.*every rank' \
    -n 1 "$agree" : -n 1 -env LD_PRELOAD "$only" "$agree" : -n 1 "$agree"
try "rank 0 of 2 without the preload" 'rank 0 .*has not joined.*every rank' \
    -n 1 -env LD_PRELOAD "$only" "$agree" : -n 1 "$agree"
mt_end
