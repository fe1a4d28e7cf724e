#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# check.sh BUILD MPIRUN - digits under Coax: device memory and host memory end
# with the same weights.
set -u
build=${1:?the build folder}
mpirun=${2:?mpirun}
simgpu=$build/lib/coax/simgpu
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
for name in $(env | sed -n 's/^\(COAX[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done

# job NAME ARGUMENTS...: three ranks, few epochs.
job()
{
    log=$tmp/$1
    shift
    timeout 100 "$mpirun" -n 3 "$@" --epochs=4 >"$log" 2>&1
    status=$?
    cat "$log"
    [ $status -eq 0 ] || {
        echo "FAIL: $* ended with status $status"
        exit 1
    }
}

weights()
{
    sed -n 's/^weights \([0-9a-f]*\) on all 3 ranks$/\1/p' "$tmp/$1"
}

export COAX_ALGO='allreduce:ring;bcast:chain'
job device "$build/bin/coax" run --simgpu "$build/bin/digits"
COAX_SCOPE=all LD_LIBRARY_PATH=$simgpu \
    job host "$build/bin/coax" run "$build/bin/digits" --host
if [ -z "$(weights device)" ] || [ "$(weights device)" != "$(weights host)" ]
then
    echo "FAIL: the weights differ"
    exit 1
fi
