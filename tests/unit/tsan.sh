#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tsan.sh TOP - the tests with ranks as threads under the thread sanitizer, in a
# build of their own, build-tsan/. Fails on any report of it.
top=${1:?the top of the tree}
tree=$top/build-tsan
mkdir -p "$tree" || exit 1
generator=
command -v ninja >/dev/null && [ ! -e "$tree/CMakeCache.txt" ] &&
    generator='-G Ninja'
# shellcheck disable=SC2086
{ cmake -S "$top" -B "$tree" $generator -DCMAKE_BUILD_TYPE=Debug \
    -DCOAX_SANITIZE=thread &&
    cmake --build "$tree" -j 2 \
        --target unit-threads unit-engine unit-engine_rank; } \
    >"$tree/build.log" 2>&1 || {
    tail -20 "$tree/build.log"
    exit 1
}
failures=0
export TSAN_OPTIONS="exitcode=66"
engine="unit-engine $tree/lib/libunit-engine_rank.so"
# A race shows only when two threads come close: several times.
for test in unit-threads "$engine" "$engine" "$engine" "$engine"; do
    # shellcheck disable=SC2086
    timeout -k 5 120 "$tree/bin/"$test >"$tree/test.log" 2>&1
    status=$?
    if [ $status -ne 0 ] || grep -q 'WARNING: ThreadSanitizer' "$tree/test.log"; then
        echo "FAIL: $test: exit status $status"
        head -60 "$tree/test.log"
        failures=1
    fi
done
exit $failures
