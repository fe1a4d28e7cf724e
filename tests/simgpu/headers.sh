#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# headers.sh CC OURS TOOLKIT - every constant, size and offset of our own CUDA
# headers is that of the toolkit's. 77 where there is no toolkit.
set -u
cc=${1:?compiler}
ours=${2:?our headers}
toolkit=${3:-}
[ -f "$toolkit/cuda_runtime_api.h" ] && [ "$toolkit" != "$ours" ] || {
    echo "no toolkit to compare with"
    exit 77
}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# A program that prints them: NAME = VALUE of the enums, and #define NAME.
{
    cat <<'END'
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdio.h>
#define V(x) printf("%s %lld\n", #x, (long long)(x));
#define S(t) printf("sizeof %s %zu\n", #t, sizeof(t));
#define O(t, m) printf("%s.%s %zu\n", #t, #m, offsetof(t, m));
int main(void)
{
END
    sed -n -E 's/^ +(CU[A-Z_0-9a-z]+|cuda[A-Za-z0-9]+) = .*/V(\1)/p' \
        "$ours"/*.h |
        grep -v -E 'V\((CU_DEVICE_ATTRIBUTE_MAX)\)'
    sed -n -E 's/^#define (CU_[A-Z_0-9]+|cuda[A-Za-z0-9]+) \(?[(0-9].*/V(\1)/p' \
        "$ours"/*.h
    for t in CUdeviceptr CUdevice CUuuid CUipcMemHandle CUDA_MEMCPY2D \
        CUresult CUmemorytype cudaIpcMemHandle_t 'struct cudaDeviceProp' \
        'struct cudaPointerAttributes' 'struct cudaMemLocation' cudaError_t \
        CUmemLocation CUmemAccessDesc CUmemAllocationProp CUmemPoolProps \
        CUmemGenericAllocationHandle 'struct cudaMemAccessDesc' \
        'struct cudaMemPoolProps'; do
        echo "S($t)"
    done
    for m in srcMemoryType srcHost srcDevice srcPitch dstXInBytes \
        dstMemoryType dstDevice dstPitch WidthInBytes Height; do
        echo "O(CUDA_MEMCPY2D, $m)"
    done
    for m in type requestedHandleTypes location win32HandleMetaData \
        allocFlags.gpuDirectRDMACapable allocFlags.usage; do
        echo "O(CUmemAllocationProp, $m)"
    done
    for t in CUmemPoolProps 'struct cudaMemPoolProps'; do
        for m in allocType handleTypes location maxSize usage reserved; do
            echo "O($t, $m)"
        done
    done
    sed -n '/^struct cudaDeviceProp {/,/^};/p' "$ours/cuda_runtime_api.h" |
        sed -n -E 's/^ .* ([A-Za-z0-9]+)(\[[0-9]+\])?;/O(struct cudaDeviceProp, \1)/p'
    for m in type device devicePointer hostPointer; do
        echo "O(struct cudaPointerAttributes, $m)"
    done
    echo 'return 0; }'
} >"$tmp/print.c"
for which in ours toolkit; do
    eval "dir=\$$which"
    "$cc" -std=c11 -w -isystem "$dir" -o "$tmp/$which" "$tmp/print.c" || exit 1
    "$tmp/$which" >"$tmp/$which.txt" || exit 1
done
[ "$(wc -l <"$tmp/ours.txt")" -gt 300 ] || {
    echo "too few values compared"
    exit 1
}
diff "$tmp/toolkit.txt" "$tmp/ours.txt"
