# SPDX-License-Identifier: BSD-3-Clause
# lib.sh - sourced by every test script: launching jobs and judging them.
#
# A job is started by mt_job MODE ..., where MODE is
#   plain  MPICH alone, with the yielding preload
#   host   Coax on host memory only: COAX_SCOPE=all, no GPU
#   auto   Coax as a user gets it on a node without a GPU
#   sim    Coax and the simulated GPU
# Only processes started here are ended: each job is one process group under
# timeout(1), and hydra ends its ranks with it.
set -u
. "${MT_CONFIG:?run under ctest, or set MT_CONFIG to the build's config.sh}"

mt_failures=0
mt_tmp=$(mktemp -d "${TMPDIR:-/tmp}/coax-mt.XXXXXX") || exit 1
trap 'rm -rf "$mt_tmp"' EXIT
# Settings of the caller's shell must not reach the jobs.
for mt_name in $(env | sed -n 's/^\(COAX[A-Z_]*\)=.*/\1/p;s/^\(SIMGPU[A-Z_]*\)=.*/\1/p'); do
    unset "$mt_name"
done
unset LD_PRELOAD

mt_bad()
{
    echo "FAIL: $*"
    mt_failures=$((mt_failures + 1))
}

mt_skip()
{
    echo "skipped: $*"
    exit 77
}

# The last line of a script.
mt_end()
{
    if [ "$mt_failures" -ne 0 ]; then
        echo "$mt_failures failures"
        exit 1
    fi
    exit 0
}

# LD_PRELOAD of a mode. MT_YIELD=no: without the yielding preload; MT_COUNT=yes:
# with the counting ones in front of and behind Coax; MT_FAULTS=yes: with the
# one that makes calls fail.
mt_preload()
{
    list=
    [ "${MT_YIELD:-yes}" = yes ] && list=$MT_BIN/libyield.so
    [ "${MT_COUNT:-no}" = yes ] && list=$MT_BIN/libshim_ucp.so:$list
    if [ "$1" != plain ]; then
        list=${list:+$list:}$MT_LIB/libcoax.so
        [ "${MT_COUNT:-no}" = yes ] &&
            list=$list:$MT_BIN/libshim_mpi.so:$MT_BIN/libshim_buffers.so
        [ "${MT_FAULTS:-no}" = yes ] && list=$list:$MT_BIN/libshim_fault.so
        [ -n "${MT_BEHIND:-}" ] && list=$list:$MT_BIN/$MT_BEHIND
    fi
    echo "$list"
}

# hydra options of a mode.
mt_genv()
{
    preload=$(mt_preload "$1")
    [ -n "$preload" ] && printf ' -genv LD_PRELOAD %s' "$preload"
    case $1 in
    host) printf ' -genv COAX_SCOPE all -genv COAX_GPU no' ;;
    auto) printf ' -genv COAX_GPU no' ;;
    sim)
        printf ' -genv LD_LIBRARY_PATH %s' \
            "$MT_LIB/coax/simgpu${MT_LIBRARY_PATH:+:$MT_LIBRARY_PATH}"
        printf ' -genv COAX_GPU yes'
        ;;
    esac
}

# mt_job MODE [hydra options] PROGRAM [arguments], ended after MT_TIMEOUT
# seconds. Exit status of mpirun; 124 or 137 for one that had to be ended.
mt_job()
{
    mode=$1
    shift
    # shellcheck disable=SC2046
    timeout -k 5 "${MT_TIMEOUT:-60}" "$MT_MPIRUN" $(mt_genv "$mode") "$@" \
        </dev/null
}

# The lines of Coax in a file of stderr.
mt_coax_lines()
{
    grep -c '^coax: ' "$1" || true
}

# mt_one_line FILE WHAT PATTERN: exactly one line of Coax, and it matches.
mt_one_line()
{
    n=$(mt_coax_lines "$1")
    if [ "$n" -ne 1 ]; then
        mt_bad "$2: $n lines of Coax instead of one:"
        sed 's/^/    /' "$1"
    elif ! grep '^coax: ' "$1" | grep -q -i -e "$3"; then
        mt_bad "$2: the line does not say '$3': $(grep '^coax: ' "$1")"
    fi
}
