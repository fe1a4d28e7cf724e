#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# readme.sh COAX README - fails when the README's table of settings is not the
# one that `coax info --env --markdown` prints.
set -u
coax=${1:?the coax command}
readme=${2:?README.md}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

sed -n '/<!-- settings: begin/,/<!-- settings: end/p' "$readme" |
    grep '^|' >"$tmp/has"
"$coax" info --env --markdown >"$tmp/wanted" || exit 1
if ! diff "$tmp/wanted" "$tmp/has" >"$tmp/diff"; then
    echo "the settings of $readme are out of date (<: missing, >: wrong)"
    grep '^[<>]' "$tmp/diff"
    exit 1
fi
