#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scalapack.sh - Debian's test programs of ScaLAPACK (LU and Cholesky) on 4
# ranks, three ways: MPICH alone, Coax as users without a GPU get it, and Coax
# that serves all it can. Their collectives are small broadcasts and reductions
# over rows and columns of process grids that come and go.
#
# The first two must agree in every line but for the times; all three in how
# many tests passed, failed and were skipped. How many calls the engine served
# is counted outside of Coax: what reached MPI in the second way and did not in
# the third.
. "$(dirname "$0")/lib.sh"
MT_TIMEOUT=170 MT_COUNT=yes

bin=
for dir in /usr/lib/*/scalapack/mpich-tests; do
    [ -x "$dir/xdlu" ] && bin=$dir
done
[ -n "$bin" ] || mt_skip "Debian's scalapack-mpi-test is not installed"
cp "$MT_SRC/scalapack/LU.dat" "$MT_SRC/scalapack/LLT.dat" "$mt_tmp"
cd "$mt_tmp" || exit 1

# one WAY MODE PROGRAM [hydra options]
one()
{
    way=$1 mode=$2 program=$3
    shift 3
    mkdir -p "$mt_tmp/report.$way"
    mt_job "$mode" "$@" -genv MT_REPORT "$mt_tmp/report.$way" -n 4 \
        "$bin/$program" >"$program.$way" 2>"$mt_tmp/err" || {
        mt_bad "$program, $way: the job failed"
        tail -5 "$mt_tmp/err"
    }
    grep '^coax' "$mt_tmp/err" && mt_bad "$program, $way: Coax printed a message"
    # Columns of times and rates have two decimals.
    sed 's/ *[0-9]*\.[0-9][0-9] / /g' "$program.$way" >"$program.$way.lines"
    grep 'tests \(completed\|skipped\)' "$program.$way" >"$program.$way.counts"
    [ "$(wc -l <"$program.$way.counts")" -eq 3 ] ||
        mt_bad "$program, $way: no summary"
    grep -q '^ *0 tests completed and passed' "$program.$way.counts" &&
        mt_bad "$program, $way: no test passed"
}

sum()
{
    cat "$mt_tmp/report.$1/$2".* 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'
}

for program in xdlu xdllt; do
    one alone plain $program
    one coax auto $program
    one engine host $program -genv COAX_SMALL 0
    cmp -s $program.alone.lines $program.coax.lines || {
        mt_bad "$program: the results differ with Coax"
        diff $program.alone.lines $program.coax.lines | head -10
    }
    for way in coax engine; do
        cmp -s $program.alone.counts $program.$way.counts || {
            mt_bad "$program, $way: other numbers of tests"
            cat $program.alone.counts $program.$way.counts
        }
    done
    echo "$program:" && cat $program.alone.counts
done
all=$(sum coax mpi) left=$(sum engine mpi) sends=$(sum engine ucp)
echo "calls on all ranks: $all, of these by the engine $((all - left)), with $sends messages"
[ $((all - left)) -ge 10000 ] || mt_bad "fewer than 10000 calls by the engine"
[ "$sends" -ge 10000 ] || mt_bad "the engine sent only $sends messages"
[ "$(sum coax ucp)" -eq 0 ] || mt_bad "the engine was used in a job without GPUs"
mt_end
