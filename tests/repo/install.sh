#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# install.sh BUILD CMAKE GENERATOR MPICC - installs, moves the installed tree,
# and uses it: the command, the preload, and a project that finds the package.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${1:?the build folder}
cmake=${2:?cmake}
generator=${3:?the generator of its build files}
mpicc=${4:?the MPI wrapper}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset LD_PRELOAD LD_LIBRARY_PATH

fail()
{
    echo "FAIL: $*"
    exit 1
}

"$cmake" --install "$build" --prefix "$tmp/first" >"$tmp/log" 2>&1 ||
    fail "install: $(cat "$tmp/log")"
mv "$tmp/first" "$tmp/moved"
coax=$tmp/moved/bin/coax
"$coax" --version || fail "no version"
"$coax" info >"$tmp/info" 2>&1 || fail "info: $(cat "$tmp/info")"
# shellcheck disable=SC2016 # for the inner shell
library=$("$coax" run --simgpu sh -c 'echo "$LD_PRELOAD"') || fail "run"
[ -f "$library" ] || fail "preloaded '$library' is no file"
case $library in
"$tmp/moved/"*) ;;
*) fail "preloaded '$library' is not the moved one" ;;
esac
grep -rl "$build" "$tmp/moved" | grep -E '\.(pc|cmake)$' &&
    fail "the files above name the build folder"

"$cmake" -S "$here/consumer" -B "$tmp/consumer" -G "$generator" \
    -DCMAKE_C_COMPILER="$mpicc" -DCMAKE_PREFIX_PATH="$tmp/moved" \
    >"$tmp/log" 2>&1 ||
    fail "find_package: $(cat "$tmp/log")"
"$cmake" --build "$tmp/consumer" >"$tmp/log" 2>&1 ||
    fail "building the consumer: $(cat "$tmp/log")"
readelf -d "$tmp/consumer/consumer" | grep -q 'NEEDED.*libcoax\.so' ||
    fail "the consumer does not need libcoax.so"
"$tmp/consumer/consumer" || fail "the consumer ends with status $?"

pc=$(find "$tmp/moved" -name coax.pc)
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --libs coax) ||
    fail "pkg-config"
# shellcheck disable=SC2086 # one word a flag
"$mpicc" -o "$tmp/linked" "$here/consumer/consumer.c" $flags ||
    fail "linking by pkg-config: $flags"
LD_LIBRARY_PATH=$(dirname "$library") "$tmp/linked" ||
    fail "the program linked by pkg-config ends with status $?"
