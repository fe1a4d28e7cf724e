#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tables.sh TOP INCLUDE... - the tables of MPI functions against mpi.h, in the
# first folder that has its declarations.
here=$(cd "$(dirname "$0")" && pwd)
top=${1:?the top of the tree}
shift
for dir in "$@"; do
    headers=
    for header in mpi_proto.h mpio.h; do
        [ -e "$dir/$header" ] && headers="$headers $dir/$header"
    done
    [ -n "$headers" ] && break
done
[ -n "$headers" ] || {
    echo "skipped: no mpi_proto.h in $*"
    exit 77
}
# shellcheck disable=SC2086 # one word a file
awk -f "$here/tables.awk" $headers "$top/src/pmpi/coll.def" \
    "$top/src/pmpi/guard.def" "$top/src/pmpi/wrap.def" "$here/symbols/exceptions.txt"
