/* SPDX-License-Identifier: BSD-3-Clause */
/* fill_api.c - the driver's memsets: three element sizes, one or two
 * dimensions, with and without Async, each in the two forms of copy_api.c. */
#include "copy.h"

static CUstream own(CUstream s)
{
    return s != NULL ? s : CU_STREAM_PER_THREAD;
}

static CUresult fill_1d(enum sim_fn fn, struct sim_fill f, CUstream s,
                        bool sync)
{
    CUresult rc = sim_enter(fn);
    f.height = 1;
    return rc != CUDA_SUCCESS ? rc : sim_fill(&f, s, sync);
}

static CUresult fill_2d(enum sim_fn fn, struct sim_fill f, CUstream s,
                        bool sync)
{
    CUresult rc = sim_enter(fn);
    return rc != CUDA_SUCCESS ? rc : sim_fill(&f, s, sync);
}

static struct sim_fill row8(CUdeviceptr dst, unsigned char value, size_t n)
{
    return (struct sim_fill){
        .dst = (uintptr_t)dst, .width = n, .size = 1, .value = value};
}

static struct sim_fill rows8(CUdeviceptr dst, size_t pitch, unsigned char value,
                             size_t width, size_t height)
{
    return (struct sim_fill){.dst = (uintptr_t)dst,
                             .pitch = pitch,
                             .width = width,
                             .height = height,
                             .size = 1,
                             .value = value};
}

CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc,
                               size_t N)
{
    return fill_1d(SIM_FN_cuMemsetD8, row8(dstDevice, uc, N), NULL, true);
}

CUresult CUDAAPI cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc,
                                    size_t N)
{
    return fill_1d(SIM_FN_cuMemsetD8, row8(dstDevice, uc, N), own(NULL), true);
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc,
                                 size_t N, CUstream hStream)
{
    return fill_1d(SIM_FN_cuMemsetD8Async, row8(dstDevice, uc, N), hStream,
                   false);
}

CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr dstDevice, unsigned char uc,
                                      size_t N, CUstream hStream)
{
    return cuMemsetD8Async(dstDevice, uc, N, own(hStream));
}

CUresult CUDAAPI cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch,
                                 unsigned char uc, size_t Width, size_t Height)
{
    return fill_2d(SIM_FN_cuMemsetD2D8,
                   rows8(dstDevice, dstPitch, uc, Width, Height), NULL, true);
}

CUresult CUDAAPI cuMemsetD2D8_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch,
                                      unsigned char uc, size_t Width,
                                      size_t Height)
{
    return fill_2d(SIM_FN_cuMemsetD2D8,
                   rows8(dstDevice, dstPitch, uc, Width, Height), own(NULL),
                   true);
}

CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch,
                                   unsigned char uc, size_t Width,
                                   size_t Height, CUstream hStream)
{
    return fill_2d(SIM_FN_cuMemsetD2D8Async,
                   rows8(dstDevice, dstPitch, uc, Width, Height), hStream,
                   false);
}

CUresult CUDAAPI cuMemsetD2D8Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch,
                                        unsigned char uc, size_t Width,
                                        size_t Height, CUstream hStream)
{
    return cuMemsetD2D8Async(dstDevice, dstPitch, uc, Width, Height,
                             own(hStream));
}

static struct sim_fill row16(CUdeviceptr dst, unsigned short value, size_t n)
{
    return (struct sim_fill){
        .dst = (uintptr_t)dst, .width = n, .size = 2, .value = value};
}

static struct sim_fill rows16(CUdeviceptr dst, size_t pitch,
                              unsigned short value, size_t width, size_t height)
{
    return (struct sim_fill){.dst = (uintptr_t)dst,
                             .pitch = pitch,
                             .width = width,
                             .height = height,
                             .size = 2,
                             .value = value};
}

CUresult CUDAAPI cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us,
                                size_t N)
{
    return fill_1d(SIM_FN_cuMemsetD16, row16(dstDevice, us, N), NULL, true);
}

CUresult CUDAAPI cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us,
                                     size_t N)
{
    return fill_1d(SIM_FN_cuMemsetD16, row16(dstDevice, us, N), own(NULL),
                   true);
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us,
                                  size_t N, CUstream hStream)
{
    return fill_1d(SIM_FN_cuMemsetD16Async, row16(dstDevice, us, N), hStream,
                   false);
}

CUresult CUDAAPI cuMemsetD16Async_ptsz(CUdeviceptr dstDevice, unsigned short us,
                                       size_t N, CUstream hStream)
{
    return cuMemsetD16Async(dstDevice, us, N, own(hStream));
}

CUresult CUDAAPI cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch,
                                  unsigned short us, size_t Width,
                                  size_t Height)
{
    return fill_2d(SIM_FN_cuMemsetD2D16,
                   rows16(dstDevice, dstPitch, us, Width, Height), NULL, true);
}

CUresult CUDAAPI cuMemsetD2D16_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch,
                                       unsigned short us, size_t Width,
                                       size_t Height)
{
    return fill_2d(SIM_FN_cuMemsetD2D16,
                   rows16(dstDevice, dstPitch, us, Width, Height), own(NULL),
                   true);
}

CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch,
                                    unsigned short us, size_t Width,
                                    size_t Height, CUstream hStream)
{
    return fill_2d(SIM_FN_cuMemsetD2D16Async,
                   rows16(dstDevice, dstPitch, us, Width, Height), hStream,
                   false);
}

CUresult CUDAAPI cuMemsetD2D16Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch,
                                         unsigned short us, size_t Width,
                                         size_t Height, CUstream hStream)
{
    return cuMemsetD2D16Async(dstDevice, dstPitch, us, Width, Height,
                              own(hStream));
}

static struct sim_fill row32(CUdeviceptr dst, unsigned int value, size_t n)
{
    return (struct sim_fill){
        .dst = (uintptr_t)dst, .width = n, .size = 4, .value = value};
}

static struct sim_fill rows32(CUdeviceptr dst, size_t pitch, unsigned int value,
                              size_t width, size_t height)
{
    return (struct sim_fill){.dst = (uintptr_t)dst,
                             .pitch = pitch,
                             .width = width,
                             .height = height,
                             .size = 4,
                             .value = value};
}

CUresult CUDAAPI cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui,
                                size_t N)
{
    return fill_1d(SIM_FN_cuMemsetD32, row32(dstDevice, ui, N), NULL, true);
}

CUresult CUDAAPI cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui,
                                     size_t N)
{
    return fill_1d(SIM_FN_cuMemsetD32, row32(dstDevice, ui, N), own(NULL),
                   true);
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui,
                                  size_t N, CUstream hStream)
{
    return fill_1d(SIM_FN_cuMemsetD32Async, row32(dstDevice, ui, N), hStream,
                   false);
}

CUresult CUDAAPI cuMemsetD32Async_ptsz(CUdeviceptr dstDevice, unsigned int ui,
                                       size_t N, CUstream hStream)
{
    return cuMemsetD32Async(dstDevice, ui, N, own(hStream));
}

CUresult CUDAAPI cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch,
                                  unsigned int ui, size_t Width, size_t Height)
{
    return fill_2d(SIM_FN_cuMemsetD2D32,
                   rows32(dstDevice, dstPitch, ui, Width, Height), NULL, true);
}

CUresult CUDAAPI cuMemsetD2D32_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch,
                                       unsigned int ui, size_t Width,
                                       size_t Height)
{
    return fill_2d(SIM_FN_cuMemsetD2D32,
                   rows32(dstDevice, dstPitch, ui, Width, Height), own(NULL),
                   true);
}

CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch,
                                    unsigned int ui, size_t Width,
                                    size_t Height, CUstream hStream)
{
    return fill_2d(SIM_FN_cuMemsetD2D32Async,
                   rows32(dstDevice, dstPitch, ui, Width, Height), hStream,
                   false);
}

CUresult CUDAAPI cuMemsetD2D32Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch,
                                         unsigned int ui, size_t Width,
                                         size_t Height, CUstream hStream)
{
    return cuMemsetD2D32Async(dstDevice, dstPitch, ui, Width, Height,
                              own(hStream));
}
