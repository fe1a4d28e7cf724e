#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh - one job, and its exit status.
#
# run.sh [-m plain|host|auto|sim] [-n RANKS] [-t SECONDS] [-c] [-f]
#        [-a FUNCTION:ALGORITHM]... [-e NAME=VALUE]... PROGRAM [arguments]
#   -c  counting preloads in front of and behind Coax
#   -f  the preload that makes calls fail
#   -a  forced algorithms
#   -e  environment of the ranks
. "$(dirname "$0")/lib.sh"

mode=plain ranks=2 env_args= forced=
while getopts m:n:t:cfa:e: opt; do
    case $opt in
    m) mode=$OPTARG ;;
    n) ranks=$OPTARG ;;
    t) MT_TIMEOUT=$OPTARG ;;
    c) MT_COUNT=yes ;;
    f) MT_FAULTS=yes ;;
    a) forced=${forced:+$forced;}$OPTARG ;;
    e) env_args="$env_args -genv ${OPTARG%%=*} ${OPTARG#*=}" ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
[ -n "$forced" ] && env_args="$env_args -genv COAX_ALGO $forced"
program=$MT_BIN/$1
shift
mt_scratch=$mt_tmp
export mt_scratch
# shellcheck disable=SC2086
mt_job "$mode" $env_args -genv MT_SCRATCH "$mt_tmp" -n "$ranks" \
    "$program" "$@" >"$mt_tmp/out" 2>"$mt_tmp/err"
rc=$?
cat "$mt_tmp/out"
cat "$mt_tmp/err" >&2
if [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
    mt_bad "no end after ${MT_TIMEOUT:-60} s"
elif [ "$rc" -ne 0 ]; then
    mt_bad "exit status $rc"
fi
grep -q 'ERROR: ld.so' "$mt_tmp/err" && mt_bad "a preload is missing"
# A job that has nothing wrong says nothing (design rule 9).
if [ "$(mt_coax_lines "$mt_tmp/err")" -ne 0 ] && [ "${MT_LINES:-no}" = no ]; then
    mt_bad "Coax printed a message"
fi
mt_end
