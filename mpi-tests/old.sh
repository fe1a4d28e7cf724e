#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# old.sh - an MPI without large-count forms behind Coax, which shows them all
# the same: they work where that can be.
#
# Such an MPI is made of the one that is here, by other names in its table of
# symbols.
. "$(dirname "$0")/lib.sh"

library=$(ldd "$MT_BIN/staged" | awk '/libmpich/ { print $3 }')
[ -n "$library" ] || mt_skip "no libmpich under the tests"
mkdir "$mt_tmp/lib"
sed -z 's/^\(P\?MPI_[A-Z][A-Za-z_]*\)_c$/\1_q/' "$library" \
    >"$mt_tmp/lib/$(basename "$library")"
if nm -D "$mt_tmp/lib/$(basename "$library")" | grep -q 'MPI_Send_c$'; then
    mt_bad "the library still has MPI_Send_c"
fi

# job RANKS PROGRAM...
job()
{
    n=$1
    shift
    mt_job sim -genv LD_LIBRARY_PATH "$mt_tmp/lib:$MT_LIB/coax/simgpu" \
        -n "$n" "$@" >"$mt_tmp/out" 2>"$mt_tmp/err" || {
        mt_bad "$*: the job failed"
        tail -20 "$mt_tmp/err"
    }
}

job 3 "$MT_BIN/staged" --old
[ "$(mt_coax_lines "$mt_tmp/err")" -eq 0 ] || mt_bad "staged: Coax printed a line"
job 1 "$MT_BIN/guard" --old --scratch="$mt_tmp"
# 9 functions with arrays of counts, nonblocking and persistent
n=$(grep -c 'coax: error: .*copies of its arrays would have to outlive' \
    "$mt_tmp/err")
[ "$n" -eq 18 ] || mt_bad "$n forms with arrays instead of 18"
mt_end
