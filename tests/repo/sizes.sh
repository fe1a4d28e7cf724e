#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sizes.sh TOP - fails on files over 650 and functions over 100 lines.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
top=${1:?the top of the tree}

files=$(repo_files "$top" .c .h .cu .def .sh)
[ -n "$files" ] || {
    echo "no sources in $top"
    exit 1
}
cd "$top" || exit 1
# shellcheck disable=SC2086 # one word a file; names hold no blanks
awk -f "$here/sizes.awk" $files
