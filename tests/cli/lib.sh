# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# lib.sh - sourced by the tests of the coax command: a moved installation of
# empty libraries, some programs, and judges.
set -u
built=${1:?the coax command}
cc=${2:?the C compiler}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0

for name in $(env | sed -n 's/^\(COAX[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
unset LD_PRELOAD LD_LIBRARY_PATH SIMGPU_DEVICES PMI_RANK PMIX_RANK \
    OMPI_COMM_WORLD_RANK

mkdir -p "$tmp/prefix/bin" "$tmp/prefix/lib/coax/simgpu"
cp "$built" "$tmp/prefix/bin/coax"
coax=$tmp/prefix/bin/coax
front=$tmp/prefix/lib/libcoax.so
echo 'int coax_test_nothing;' >"$tmp/nothing.c"
"$cc" -shared -fPIC -o "$front" "$tmp/nothing.c" || exit 1
cp "$front" "$tmp/prefix/lib/libcoax-engine.so"
cp "$front" "$tmp/libtool.so"

cd "$tmp" || exit 1
printf 'int main(void)\n{\n    return 7;\n}\n' >seven.c
"$cc" -o seven seven.c || exit 1
printf '#!/bin/sh\nenv | grep -E "^(LD_|COAX|SIMGPU)" | sort\n' >show
chmod +x show

bad()
{
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# run STATUS ARGUMENTS...: coax must end with that status; output in out, err.
run()
{
    wanted=$1
    shift
    "$coax" "$@" >out 2>err
    status=$?
    [ $status -eq "$wanted" ] ||
        bad "coax $*: status $status, not $wanted: $(cat err)"
}

has()
{
    grep -q -e "$2" "$1" || bad "$1 lacks '$2': $(cat "$1")"
}

lacks()
{
    grep -q -e "$2" "$1" && bad "$1 has '$2': $(cat "$1")"
}

# refused STATUS WORDS ARGUMENTS...: an error in exactly one line.
refused()
{
    code=$1
    words=$2
    shift 2
    run "$code" "$@"
    has err "$words"
    [ "$(wc -l <err)" -eq 1 ] || bad "coax $*: not one line: $(cat err)"
    [ -s out ] && bad "coax $*: output beside an error: $(cat out)"
}

# warned STATUS WORDS ARGUMENTS...: the program runs, with exactly one line.
warned()
{
    code=$1
    words=$2
    shift 2
    run "$code" "$@"
    has err "$words"
    [ "$(wc -l <err)" -eq 1 ] || bad "coax $*: not one line: $(cat err)"
}
