# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# lib.sh - sourced by the checks of the source tree.
set -u

# The files of the tree at $1 whose names end in one of the endings that
# follow: the tracked ones, or all but build folders where there is no git.
# One a line, relative to the tree.
repo_files()
{
    (
        cd "$1" || exit 1
        shift
        pattern=$(printf '%s\n' "$@" | sed 's/\./\\./g; s/$/$/' |
            paste -s -d '|' -)
        top=$(git rev-parse --show-toplevel 2>/dev/null)
        if [ "$top" = "$(pwd -P)" ]; then
            git ls-files
        else
            find . -type d \( -name .git -o -name 'build*' \) -prune -o \
                -type f -print | sed 's|^\./||'
        fi | grep -E "$pattern" | sort
    )
}
