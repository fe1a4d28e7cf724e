#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# behind.sh - a staged call that fails on rank 1 before it reaches MPI: the job
# ends, soon, and says why; nobody is told that the call went well.
#
# behind.sh CAUSE
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=10
MT_FAULTS=yes

# try CAUSE NEXT [small]: calls of `small` bytes or less are staged
try()
{
    mt_job sim -genv COAX_SMALL "${3:-1G}" -genv COAX_TIMEOUT 6 \
        -genv UCX_MEM_MMAP_HOOK_MODE none -n 3 \
        "$MT_BIN/behind" --next="$2" --cause="$1" >"$mt_tmp/out" 2>"$mt_tmp/err"
    status=$?
    case $status in
    124 | 137) mt_bad "$*: no end" ;;
    0) mt_bad "$*: the job ended well" ;;
    esac
    grep '^mt: ' "$mt_tmp/err"
    grep -q 'came back\|still there' "$mt_tmp/out" && mt_bad "$*: it went on"
    grep '^coax: ' "$mt_tmp/err" | sed 's/^/    /'
    if [ "$2" = fatal ]; then
        mt_one_line "$mt_tmp/err" "$*" 'rank 1\]'
        return
    fi
    grep -q 'goes on' "$mt_tmp/out" || mt_bad "$*: no error came back"
    # One line for the fault, one for the end, both of the rank that has it.
    n=$(grep -c '^coax: error: .* rank 1\] ' "$mt_tmp/err")
    if [ "$n" -ne 2 ] || [ "$(mt_coax_lines "$mt_tmp/err")" -ne 2 ]; then
        mt_bad "$*: $n lines of rank 1"
    fi
    grep '^coax: ' "$mt_tmp/err" | tail -1 |
        grep -q "MPI_$2 of rank 1 ends the job: its MPI_Allreduce failed" ||
        mt_bad "$*: the last line does not say why"
}

# In the engine; a plan in use needs no memory.
[ "$1" = copy ] && try "$1" fatal 0
for next in fatal Allreduce Bcast Reduce Barrier Finalize; do
    if [ "$1" = wire ]; then
        try "$1" "$next" 0
    else
        try "$1" "$next"
    fi
done
mt_end
