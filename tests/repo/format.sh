#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# format.sh TOP - fails when clang-format 14 would change a C file.
. "$(dirname "$0")/lib.sh"
top=${1:?the top of the tree}

tool=
for name in clang-format-14 clang-format; do
    if $name --version 2>/dev/null | grep -q 'version 14\.'; then
        tool=$name
        break
    fi
done
[ -n "$tool" ] || {
    echo "skipped: no clang-format 14; install clang-format-14"
    exit 77
}

files=$(repo_files "$top" .c .h .cu)
[ -n "$files" ] || {
    echo "no sources in $top"
    exit 1
}
cd "$top" || exit 1
# shellcheck disable=SC2086 # one word a file; names hold no blanks
$tool --dry-run -Werror --style=file $files
