#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# patches.sh TOP - fails when a patch of tests/sabotage no longer applies, or
# does not say what it breaks and which test must then fail.
top=${1:?the top of the tree}
command -v git >/dev/null || {
    echo "no git here to try the patches with"
    exit 77
}
cd "$top" || exit 1
failures=0
for patch in tests/sabotage/*.patch; do
    sed -n 1p "$patch" | grep -q '^# breaks: .' &&
        sed -n 2p "$patch" | grep -q '^# fails: .' || {
        echo "$patch: does not begin with '# breaks:' and '# fails:'"
        failures=1
    }
    git apply --check "$patch" || {
        echo "$patch: does not apply: renew it"
        failures=1
    }
done
exit $failures
