#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# program.sh SOURCE_DIR SRC STAND_INS NVCC - a program that nvcc made with the
# shared runtime starts on the stand-in, says that it lacks host code for its
# kernels, and runs them when it is given some. 77 where there is no nvcc.
set -u
here=${1:?folder of program.cu}
src=${2:?src}
stand_ins=${3:?folder of the stand-ins}
nvcc=${4:-nvcc}
command -v "$nvcc" >/dev/null && command -v c++ >/dev/null || {
    echo "no nvcc or no c++"
    exit 77
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
"$nvcc" -cudart shared -I"$src" -o "$tmp/program" "$here/program.cu" || exit 1
c++ -shared -fPIC -I"$src" -x c++ -o "$tmp/kernels.so" \
    "$here/program_kernels.h" || exit 1
status=0
# says WANT LINES SETTING...: the output, and how many lines are on stderr.
says() {
    want=$1
    lines=$2
    shift 2
    got=$(env LD_LIBRARY_PATH="$stand_ins" "$@" "$tmp/program" 2>"$tmp/err" |
        tr '\n' ' ')
    [ "$got" = "$want" ] && [ "$(wc -l <"$tmp/err")" = "$lines" ] || {
        echo "$*: got '$got', not '$want'; stderr:"
        cat "$tmp/err"
        status=1
    }
}
says "cudaErrorNoKernelImageForDevice " 1 A=b
grep -q 'kernel _Z4axpyifPKfPf.*SIMGPU_KERNELS' "$tmp/err" || status=1
says "cudaSuccess right " 0 SIMGPU_KERNELS="$tmp/kernels.so"
exit $status
