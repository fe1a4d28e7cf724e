#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools.sh - PMPI tools of both kinds before, behind and on both sides of Coax:
# each sees a call at most once, the ones before it see all, and nothing turns
# in a circle.
. "$(dirname "$0")/lib.sh"
before= behind=

mt_preload()
{
    echo "$MT_BIN/libshim_ucp.so:$MT_BIN/libyield.so:$MT_BIN/libshim_front.so:$before$MT_LIB/libcoax.so:$behind$MT_BIN/libshim_mpi.so"
}

# chain SMALL WANT: what MPI and the tools saw, and whether the engine sent.
chain()
{
    rm -f "$mt_tmp"/tool-* "$mt_tmp"/counts.*
    MT_TIMEOUT=30
    mt_job sim -genv MT_GPU 1 -genv COAX_SMALL "$1" -genv MT_SCRATCH "$mt_tmp" \
        -n 2 "$MT_BIN/binding_c" >"$mt_tmp/out" 2>"$mt_tmp/err" ||
        mt_bad "$before Coax $behind: exit status $?: $(cat "$mt_tmp/err")"
    got=$(sed 's/sends [1-9].*/sends/;s/ sends 0//' "$mt_tmp/counts.0")
    for tool in plain both; do
        [ -e "$mt_tmp/tool-$tool.0" ] &&
            got="$got, $tool $(cat "$mt_tmp/tool-$tool.0")"
    done
    [ "$got" = "$2" ] ||
        mt_bad "'$before' Coax '$behind', small $1: '$got', not '$2'"
}

plain=$MT_BIN/libtool_plain.so: both=$MT_BIN/libtool_both.so:
before=$plain behind=
chain 0 "front 3 3 3 mpi 0 0 0 sends, plain 3 3"
chain 1G "front 3 3 3 mpi 3 3 3, plain 3 3"
before=$both behind=
chain 0 "front 3 3 3 mpi 0 0 0 sends, both 3 3"
before=$plain$both behind=
chain 1G "front 3 3 3 mpi 3 3 3, plain 3 3, both 3 3"
# Behind Coax a tool of the first kind is not asked, and what the engine runs
# reaches none.
before='' behind=$plain
chain 0 "front 3 3 3 mpi 0 0 0 sends, plain 0 0"
chain 1G "front 3 3 3 mpi 3 3 3, plain 0 0"
before='' behind=$both
chain 0 "front 3 3 3 mpi 0 0 0 sends, both 0 0"
chain 1G "front 3 3 3 mpi 3 3 3, both 3 3"
before=$plain behind=$both
chain 1G "front 3 3 3 mpi 3 3 3, plain 3 3, both 3 3"
mt_end
