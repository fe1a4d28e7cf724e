#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# settings.sh INIT - a SIMGPU_ variable that is not understood gives one line
# on stderr that says what is, and cuInit fails; good ones do what they say.
set -u
init=${1:?program}
status=0

# gives WANT NAME=VALUE...: what the program prints with these settings.
gives() {
    want=$1
    shift
    got=$(env "$@" "$init" 2>/dev/null)
    [ "$got" = "$want" ] || {
        echo "$*: got '$got', not '$want'"
        status=1
    }
}

# bad TEXT NAME=VALUE: refused, with one line that has TEXT in it.
bad() {
    text=$1
    shift
    gives "1 0" "$@"
    lines=$(env "$@" "$init" 2>&1 >/dev/null)
    case $lines in
    *"$text"*) ;;
    *)
        echo "$*: no '$text' in: $lines"
        status=1
        ;;
    esac
    [ "$(echo "$lines" | wc -l)" = 1 ] || {
        echo "$*: more than one line: $lines"
        status=1
    }
}

gives "0 1" A=b
gives "0 4" SIMGPU_DEVICES=4
gives "100 0" SIMGPU_DEVICES=0
gives "0 2" SIMGPU_DEVICES=4 CUDA_VISIBLE_DEVICES=2,0
gives "0 1" SIMGPU_DEVICES=4 CUDA_VISIBLE_DEVICES=2,9,1
gives "100 0" CUDA_VISIBLE_DEVICES=
gives "100 0" CUDA_VISIBLE_DEVICES=0,0
gives "0 1" SIMGPU_MEM=64M SIMGPU_P2P=0-1,2-3 SIMGPU_IPC=no-open
gives "0 1" SIMGPU_REUSE=off SIMGPU_DELAY_US=10 SIMGPU_P2P=off
gives "0 1" SIMGPU_TOPO=0-1:18,2-3 SIMGPU_NVML=off
gives "0 1" SIMGPU_TOPO=nvswitch
gives "2 0" SIMGPU_FAIL=cuInit:1=2

bad "from 0 to 16" SIMGPU_DEVICES=17
bad "from 0 to 16" SIMGPU_DEVICES=
bad "from 0 to 16" SIMGPU_DEVICES=2x
bad "as in 512M or 2G" SIMGPU_MEM=1T
bad "as in 512M or 2G" SIMGPU_MEM=1K
bad "as in 512M or 2G" SIMGPU_MEM=99999999999999G
bad "pairs of devices" SIMGPU_P2P=0-
bad "pairs of devices" SIMGPU_P2P=0-1,
bad "no-export or no-open" SIMGPU_IPC=maybe
bad "on or off" SIMGPU_REUSE=1
bad "as in 0-1:4,1-2" SIMGPU_TOPO=0-0
bad "as in 0-1:4,1-2" SIMGPU_TOPO=0-1:19
bad "as in 0-1:4,1-2" SIMGPU_TOPO=0-1:9,1-2:10
bad "staged or refused" SIMGPU_PEER_COPY=on
bad "cannot use it" SIMGPU_SHARE=/nonexistent/x
bad "refused or counted" SIMGPU_IPC_REOPEN=yes
gives "0 1" SIMGPU_DELAY_US=kernel:500,legacy:20
bad "microseconds" SIMGPU_DELAY_US=-1
bad "kernel:500,legacy:20" SIMGPU_DELAY_US=kernels:5
bad "kernel:500,legacy:20" SIMGPU_DELAY_US=kernel:5,
bad "FUNCTION:CALL=ERROR" SIMGPU_FAIL=cuMemAlloc
bad "FUNCTION:CALL=ERROR" SIMGPU_FAIL=cuMemAlloc:1=2,
bad "cannot write" SIMGPU_COUNTERS=/nonexistent/x
bad "short path" SIMGPU_COUNTERS=/tmp/%q
bad "SIMGPU_DELAY_US" SIMGPU_DELAY=1

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
gives "0 1" SIMGPU_REPORT="$dir/report-%p" SIMGPU_COUNTERS="$dir/live-%p"
grep -q '^calls cuInit 1 faults 0$' "$dir"/report-[0-9]* || {
    echo "the report does not count cuInit"
    status=1
}
[ "$(head -c 8 "$dir"/live-[0-9]*)" = SIMGPUC1 ] || {
    echo "the counter file is not one"
    status=1
}
exit $status
