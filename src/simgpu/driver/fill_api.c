/* SPDX-License-Identifier: BSD-3-Clause */
/* fill_api.c - the driver's memsets: three element sizes, one or two
 * dimensions, with and without Async, each in the two forms of copy_api.c. */
#include "copy.h"
#include "entry.h"

static CUresult fill(enum sim_fn fn, struct sim_fill f, CUstream s, bool sync)
{
    CUresult rc = sim_enter(fn);
    return rc != CUDA_SUCCESS ? rc : sim_fill(&f, s, sync);
}

/* n elements of size bytes. */
static struct sim_fill row(CUdeviceptr dst, unsigned size, uint32_t value,
                           size_t n)
{
    return (struct sim_fill){.dst = (uintptr_t)dst,
                             .width = n,
                             .height = 1,
                             .size = size,
                             .value = value};
}

static struct sim_fill rows(CUdeviceptr dst, size_t pitch, unsigned size,
                            uint32_t value, size_t width, size_t height)
{
    struct sim_fill f = row(dst, size, value, width);
    f.pitch = pitch;
    f.height = height;
    return f;
}

CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc,
                               size_t N)
{
    return fill(SIM_FN_cuMemsetD8, row(dstDevice, 1, uc, N), NULL, true);
}

CUresult CUDAAPI cuMemsetD8_v2_ptds(CUdeviceptr dstDevice, unsigned char uc,
                                    size_t N)
{
    return fill(SIM_FN_cuMemsetD8, row(dstDevice, 1, uc, N),
                CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc,
                                 size_t N, CUstream hStream)
{
    return fill(SIM_FN_cuMemsetD8Async, row(dstDevice, 1, uc, N), hStream,
                false);
}

CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr dstDevice, unsigned char uc,
                                      size_t N, CUstream hStream)
{
    return cuMemsetD8Async(dstDevice, uc, N, sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch,
                                 unsigned char uc, size_t Width, size_t Height)
{
    return fill(SIM_FN_cuMemsetD2D8,
                rows(dstDevice, dstPitch, 1, uc, Width, Height), NULL, true);
}

CUresult CUDAAPI cuMemsetD2D8_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch,
                                      unsigned char uc, size_t Width,
                                      size_t Height)
{
    return fill(SIM_FN_cuMemsetD2D8,
                rows(dstDevice, dstPitch, 1, uc, Width, Height),
                CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch,
                                   unsigned char uc, size_t Width,
                                   size_t Height, CUstream hStream)
{
    return fill(SIM_FN_cuMemsetD2D8Async,
                rows(dstDevice, dstPitch, 1, uc, Width, Height), hStream,
                false);
}

CUresult CUDAAPI cuMemsetD2D8Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch,
                                        unsigned char uc, size_t Width,
                                        size_t Height, CUstream hStream)
{
    return cuMemsetD2D8Async(dstDevice, dstPitch, uc, Width, Height,
                             sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us,
                                size_t N)
{
    return fill(SIM_FN_cuMemsetD16, row(dstDevice, 2, us, N), NULL, true);
}

CUresult CUDAAPI cuMemsetD16_v2_ptds(CUdeviceptr dstDevice, unsigned short us,
                                     size_t N)
{
    return fill(SIM_FN_cuMemsetD16, row(dstDevice, 2, us, N),
                CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us,
                                  size_t N, CUstream hStream)
{
    return fill(SIM_FN_cuMemsetD16Async, row(dstDevice, 2, us, N), hStream,
                false);
}

CUresult CUDAAPI cuMemsetD16Async_ptsz(CUdeviceptr dstDevice, unsigned short us,
                                       size_t N, CUstream hStream)
{
    return cuMemsetD16Async(dstDevice, us, N, sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch,
                                  unsigned short us, size_t Width,
                                  size_t Height)
{
    return fill(SIM_FN_cuMemsetD2D16,
                rows(dstDevice, dstPitch, 2, us, Width, Height), NULL, true);
}

CUresult CUDAAPI cuMemsetD2D16_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch,
                                       unsigned short us, size_t Width,
                                       size_t Height)
{
    return fill(SIM_FN_cuMemsetD2D16,
                rows(dstDevice, dstPitch, 2, us, Width, Height),
                CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch,
                                    unsigned short us, size_t Width,
                                    size_t Height, CUstream hStream)
{
    return fill(SIM_FN_cuMemsetD2D16Async,
                rows(dstDevice, dstPitch, 2, us, Width, Height), hStream,
                false);
}

CUresult CUDAAPI cuMemsetD2D16Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch,
                                         unsigned short us, size_t Width,
                                         size_t Height, CUstream hStream)
{
    return cuMemsetD2D16Async(dstDevice, dstPitch, us, Width, Height,
                              sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui,
                                size_t N)
{
    return fill(SIM_FN_cuMemsetD32, row(dstDevice, 4, ui, N), NULL, true);
}

CUresult CUDAAPI cuMemsetD32_v2_ptds(CUdeviceptr dstDevice, unsigned int ui,
                                     size_t N)
{
    return fill(SIM_FN_cuMemsetD32, row(dstDevice, 4, ui, N),
                CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui,
                                  size_t N, CUstream hStream)
{
    return fill(SIM_FN_cuMemsetD32Async, row(dstDevice, 4, ui, N), hStream,
                false);
}

CUresult CUDAAPI cuMemsetD32Async_ptsz(CUdeviceptr dstDevice, unsigned int ui,
                                       size_t N, CUstream hStream)
{
    return cuMemsetD32Async(dstDevice, ui, N, sim_own_stream(hStream));
}

CUresult CUDAAPI cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch,
                                  unsigned int ui, size_t Width, size_t Height)
{
    return fill(SIM_FN_cuMemsetD2D32,
                rows(dstDevice, dstPitch, 4, ui, Width, Height), NULL, true);
}

CUresult CUDAAPI cuMemsetD2D32_v2_ptds(CUdeviceptr dstDevice, size_t dstPitch,
                                       unsigned int ui, size_t Width,
                                       size_t Height)
{
    return fill(SIM_FN_cuMemsetD2D32,
                rows(dstDevice, dstPitch, 4, ui, Width, Height),
                CU_STREAM_PER_THREAD, true);
}

CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch,
                                    unsigned int ui, size_t Width,
                                    size_t Height, CUstream hStream)
{
    return fill(SIM_FN_cuMemsetD2D32Async,
                rows(dstDevice, dstPitch, 4, ui, Width, Height), hStream,
                false);
}

CUresult CUDAAPI cuMemsetD2D32Async_ptsz(CUdeviceptr dstDevice, size_t dstPitch,
                                         unsigned int ui, size_t Width,
                                         size_t Height, CUstream hStream)
{
    return cuMemsetD2D32Async(dstDevice, dstPitch, ui, Width, Height,
                              sim_own_stream(hStream));
}
