/* SPDX-License-Identifier: BSD-3-Clause */
/* copies_2d.c - copies and fills of rows with a pitch touch the rows and
 * nothing between them. */
#include "t.h"

#include <cuda_runtime_api.h>

#define W 100
#define H 7

static unsigned char image[H][W];

static void check_rows(const unsigned char *rows, size_t pitch, int gap)
{
    for (int y = 0; y < H; y++)
        for (size_t x = 0; x < pitch; x++)
            if (y < H - 1 || x < W)
                CHECK(rows[(size_t)y * pitch + x] ==
                      (x < W ? image[y][x] : gap));
}

static void runtime(void)
{
    unsigned char *d;
    size_t pitch;
    OK(cudaMallocPitch((void **)&d, &pitch, W, H));
    CHECK(pitch >= W);
    unsigned char *back = malloc(pitch * H);
    OK(cudaMemset(d, 0xEE, pitch * H));
    OK(cudaMemcpy2D(d, pitch, image, W, W, H, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(back, d, pitch * H, cudaMemcpyDeviceToHost));
    check_rows(back, pitch, 0xEE);
    memset(back, 0xDD, pitch * H);
    OK(cudaMemcpy2DAsync(back, W + 3, d, pitch, W, H, cudaMemcpyDeviceToHost,
                         NULL));
    check_rows(back, W + 3, 0xDD);
    IS(cudaMemcpy2D(d, W - 1, image, W, W, H, cudaMemcpyHostToDevice),
       cudaErrorInvalidPitchValue);
    OK(cudaMemset2D(d, pitch, 0x77, W, H));
    OK(cudaMemcpy(back, d, pitch * H, cudaMemcpyDeviceToHost));
    CHECK(t_all(back, 0x77, W) && back[W] == 0xEE);
    OK(cudaFree(d));
    free(back);
}

static void driver(void)
{
    CUdeviceptr d;
    unsigned words[6];
    unsigned short halves[8];
    static unsigned char back[50 * 20];
    OK(cuMemAlloc(&d, 50 * 20));
    OK(cuMemsetD8(d, 0, 50 * 20));
    /* a window of 10 x 5 at (20, 3) from one at (40, 1) */
    CUDA_MEMCPY2D c = {
        .srcXInBytes = 40,
        .srcY = 1,
        .srcMemoryType = CU_MEMORYTYPE_HOST,
        .srcHost = image,
        .srcPitch = W,
        .dstXInBytes = 20,
        .dstY = 3,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice = d,
        .dstPitch = 50,
        .WidthInBytes = 10,
        .Height = 5,
    };
    OK(cuMemcpy2D(&c));
    OK(cuMemcpyDtoH(back, d, sizeof(back)));
    for (int y = 0; y < 20; y++)
        for (int x = 0; x < 50; x++) {
            int in = x >= 20 && x < 30 && y >= 3 && y < 8;
            CHECK(back[y * 50 + x] == (in ? image[y - 2][x + 20] : 0));
        }
    c.dstY = 16; /* ends below the allocation */
    IS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    IS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);

    OK(cuMemsetD32(d, 0x01020304, 6));
    OK(cuMemcpyDtoH(words, d, sizeof(words)));
    CHECK(words[0] == 0x01020304 && words[5] == 0x01020304);
    OK(cuMemsetD2D16(d, 8, 0xBEEF, 1, 2));
    OK(cuMemcpyDtoH(halves, d, sizeof(halves)));
    CHECK(halves[0] == 0xBEEF && halves[4] == 0xBEEF && halves[1] == 0x0102);
    IS(cuMemsetD32(d + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(d));
}

int main(void)
{
    for (int i = 0; i < W * H; i++)
        image[i / W][i % W] = (unsigned char)(i * 3 + 1);
    runtime();
    driver();
    return 0;
}
