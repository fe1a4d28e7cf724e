#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# exports.sh LIBRARY SONAME VERSION HEADER... - the library shows only functions
# that CUDA's headers name, under the version node of the real library (VERSION
# "-" for none), carries its soname, and needs nothing but libc.
set -u
library=${1:?library}
soname=${2:?soname}
version=${3:?version}
shift 3
status=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

cat "$@" | grep -oE '\b((__)?cu|nvml)[A-Za-z0-9_]+' | sort -u >"$tmp/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' >"$tmp/all"
[ -s "$tmp/all" ] || {
    echo "$library shows nothing"
    exit 1
}
# The headers make the forms for per-thread streams by pasting.
sed 's/@.*//; s/_pt[ds][sz]$//' "$tmp/all" | sort -u |
    comm -23 - "$tmp/declared" >"$tmp/extra"
if [ -s "$tmp/extra" ]; then
    echo "not CUDA's: $(tr '\n' ' ' <"$tmp/extra")"
    status=1
fi
if [ "$version" != - ] && grep -v "@@$version\$" "$tmp/all"; then
    echo "the above lack the version $version"
    status=1
fi
readelf -d "$library" >"$tmp/dynamic"
grep -q "SONAME.*\[$soname\]" "$tmp/dynamic" || {
    echo "the soname is not $soname"
    status=1
}
if grep NEEDED "$tmp/dynamic" |
    grep -v -E '\[(libc|libpthread|libdl|librt|ld-linux.*|lib[a-z]*san)\.so'; then
    echo "needs more than libc"
    status=1
fi
exit $status
