#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# layers.sh TOP - fails when a folder includes what it must not.
here=$(dirname "$0")
. "$here/lib.sh"
top=${1:?the top of the tree}

files=$(repo_files "$top" .c .h .cu .def .inc | grep -E '^(src|include|examples)/')
[ -n "$files" ] || {
    echo "no sources in $top"
    exit 1
}
here=$(cd "$here" && pwd)
cd "$top" || exit 1
# shellcheck disable=SC2086 # one word a file; names hold no blanks
awk -f "$here/layers.awk" $files
