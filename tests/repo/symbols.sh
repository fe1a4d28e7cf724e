#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# symbols.sh LIBRARY LIST - fails when the library does not show exactly the
# symbols of the list, or needs a library that it must not need. Lines of the
# list: a symbol, or `needs LIBRARY` for one that may be needed beside libc's.
set -u
library=${1:?library}
list=${2:?list}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
status=0

nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' |
    sort -u >"$tmp/has"
grep -v -e '^#' -e '^$' -e '^needs ' "$list" | sort -u >"$tmp/wanted"
[ -s "$tmp/has" ] || {
    echo "$library shows no symbol"
    exit 1
}
if ! diff "$tmp/wanted" "$tmp/has" >"$tmp/diff"; then
    echo "$library against $list (<: missing, >: should not be there)"
    grep '^[<>]' "$tmp/diff"
    status=1
fi

# libc's own, and those that a sanitizer build adds.
{
    printf '%s\n' libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 \
        ld-linux-x86-64.so.2 ld-linux-aarch64.so.1
    sed -n 's/^needs //p' "$list"
} >"$tmp/may"
readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
    grep -v -E '^lib(a|ub|t)san\.so' | grep -v -x -F -f "$tmp/may" \
    >"$tmp/extra"
if [ -s "$tmp/extra" ]; then
    echo "$library must not need: $(tr '\n' ' ' <"$tmp/extra")"
    status=1
fi
exit $status
