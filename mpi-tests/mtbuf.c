/* SPDX-License-Identifier: BSD-3-Clause */
/* mtbuf.c - guarded buffers of any memory kind. */
#include "mtbuf.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"

#define GUARD_BYTE 0x6b
#define CHUNK ((size_t)4 << 20)

struct mt_cuda cuda;

static void *symbol(void *lib, const char *name)
{
    void *sym = dlsym(lib, name);

    if (!sym)
        mt_die("no CUDA function %s", name);
    return sym;
}

static void *library(const char *const *names)
{
    for (; *names; names++) {
        void *lib = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);

        if (lib)
            return lib;
    }
    mt_die("no CUDA library found: %s", dlerror());
}

void mt_cuda_open(void)
{
    static const char *const runtime[] = {"libcudart.so.13", "libcudart.so.12",
                                          NULL};
    static const char *const driver[] = {"libcuda.so.1", NULL};
    void *rt, *drv;

    if (cuda.Malloc)
        return;
    rt = library(runtime);
    drv = library(driver);
    *(void **)&cuda.MallocManaged = symbol(rt, "cudaMallocManaged");
    *(void **)&cuda.MallocHost = symbol(rt, "cudaMallocHost");
    *(void **)&cuda.Free = symbol(rt, "cudaFree");
    *(void **)&cuda.FreeHost = symbol(rt, "cudaFreeHost");
    *(void **)&cuda.Memcpy = symbol(rt, "cudaMemcpy");
    *(void **)&cuda.MemcpyAsync = symbol(rt, "cudaMemcpyAsync");
    *(void **)&cuda.Memset = symbol(rt, "cudaMemset");
    *(void **)&cuda.DeviceSynchronize = symbol(rt, "cudaDeviceSynchronize");
    *(void **)&cuda.GetDeviceCount = symbol(rt, "cudaGetDeviceCount");
    *(void **)&cuda.GetDevice = symbol(rt, "cudaGetDevice");
    *(void **)&cuda.SetDevice = symbol(rt, "cudaSetDevice");
    *(void **)&cuda.DeviceReset = symbol(rt, "cudaDeviceReset");
    *(void **)&cuda.StreamCreateWithFlags =
        symbol(rt, "cudaStreamCreateWithFlags");
    *(void **)&cuda.StreamSynchronize = symbol(rt, "cudaStreamSynchronize");
    *(void **)&cuda.StreamDestroy = symbol(rt, "cudaStreamDestroy");
    *(void **)&cuda.CtxGetCurrent = symbol(drv, "cuCtxGetCurrent");
    *(void **)&cuda.CtxSetCurrent = symbol(drv, "cuCtxSetCurrent");
    *(void **)&cuda.Malloc = symbol(rt, "cudaMalloc");
}

void mt_cuda_ok(int rc, const char *what)
{
    if (rc)
        mt_die("%s failed: CUDA error %d", what, rc);
}

static int on_gpu(const struct mt_buf *buf)
{
    return buf->kind == MT_DEVICE || buf->kind == MT_MANAGED;
}

void mt_buf_create(struct mt_buf *buf, enum mt_kind kind, size_t cap,
                   size_t shift)
{
    size_t nbytes = cap + 2 * MT_GUARD + shift;
    void *ptr = NULL;

    buf->kind = kind;
    buf->cap = cap;
    if (kind != MT_HOST)
        mt_cuda_open();
    if (kind == MT_HOST)
        ptr = mt_alloc(nbytes);
    else if (kind == MT_DEVICE)
        mt_cuda_ok(cuda.Malloc(&ptr, nbytes), "cudaMalloc");
    else if (kind == MT_PINNED)
        mt_cuda_ok(cuda.MallocHost(&ptr, nbytes), "cudaMallocHost");
    else /* 1: attach global */
        mt_cuda_ok(cuda.MallocManaged(&ptr, nbytes, 1), "cudaMallocManaged");
    buf->alloc = ptr;
    buf->ptr = buf->alloc + MT_GUARD + shift;
}

void mt_buf_destroy(struct mt_buf *buf)
{
    if (buf->kind == MT_HOST)
        free(buf->alloc);
    else if (buf->kind == MT_PINNED)
        mt_cuda_ok(cuda.FreeHost(buf->alloc), "cudaFreeHost");
    else
        mt_cuda_ok(cuda.Free(buf->alloc), "cudaFree");
    buf->alloc = NULL;
}

static void fill(const struct mt_buf *buf, unsigned char *at, int byte,
                 size_t nbytes)
{
    if (!nbytes)
        return;
    if (on_gpu(buf))
        mt_cuda_ok(cuda.Memset(at, byte, nbytes), "cudaMemset");
    else
        memset(at, byte, nbytes);
}

void mt_buf_arm(struct mt_buf *buf, size_t nbytes, int byte)
{
    if (nbytes > buf->cap)
        mt_die("buffer of %zu bytes used for %zu", buf->cap, nbytes);
    fill(buf, buf->ptr - MT_GUARD, GUARD_BYTE, MT_GUARD);
    if (byte >= 0)
        fill(buf, buf->ptr, byte, nbytes);
    fill(buf, buf->ptr + nbytes, GUARD_BYTE, MT_GUARD);
    if (on_gpu(buf)) /* a cudaMemset may return before it has run */
        mt_cuda_ok(cuda.DeviceSynchronize(), "cudaDeviceSynchronize");
}

static int all_guard(const unsigned char *at)
{
    for (int i = 0; i < MT_GUARD; i++)
        if (at[i] != GUARD_BYTE)
            return 0;
    return 1;
}

int mt_buf_guarded(const struct mt_buf *buf, size_t nbytes)
{
    unsigned char before[MT_GUARD], after[MT_GUARD];
    int kind = on_gpu(buf) ? MT_D2H : MT_H2H;

    if (!on_gpu(buf))
        return all_guard(buf->ptr - MT_GUARD) && all_guard(buf->ptr + nbytes);
    mt_cuda_ok(cuda.Memcpy(before, buf->ptr - MT_GUARD, MT_GUARD, kind),
               "cudaMemcpy");
    mt_cuda_ok(cuda.Memcpy(after, buf->ptr + nbytes, MT_GUARD, kind),
               "cudaMemcpy");
    return all_guard(before) && all_guard(after);
}

void mt_buf_write(struct mt_buf *buf, size_t off, const void *src,
                  size_t nbytes)
{
    if (!nbytes)
        return;
    if (!on_gpu(buf)) {
        memcpy(buf->ptr + off, src, nbytes);
        return;
    }
    mt_cuda_ok(cuda.Memcpy(buf->ptr + off, src, nbytes, MT_H2D), "cudaMemcpy");
    mt_cuda_ok(cuda.DeviceSynchronize(), "cudaDeviceSynchronize");
}

void mt_buf_read(const struct mt_buf *buf, size_t off, void *dst, size_t nbytes)
{
    if (!nbytes)
        return;
    if (!on_gpu(buf))
        memcpy(dst, buf->ptr + off, nbytes);
    else
        mt_cuda_ok(cuda.Memcpy(dst, buf->ptr + off, nbytes, MT_D2H),
                   "cudaMemcpy");
}

static long long first_difference(const unsigned char *a,
                                  const unsigned char *b, size_t n)
{
    if (n == 0 || memcmp(a, b, n) == 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return (long long)i;
    return -1;
}

long long mt_buf_differs(const struct mt_buf *buf, size_t off, const void *want,
                         size_t nbytes)
{
    static unsigned char *mirror; /* one for the life of the process */
    const unsigned char *w = want;

    if (!on_gpu(buf))
        return first_difference(buf->ptr + off, w, nbytes);
    if (!mirror)
        mirror = mt_alloc(CHUNK);
    for (size_t done = 0; done < nbytes; done += CHUNK) {
        size_t n = nbytes - done < CHUNK ? nbytes - done : CHUNK;
        long long at;

        mt_buf_read(buf, off + done, mirror, n);
        at = first_difference(mirror, w + done, n);
        if (at >= 0)
            return (long long)done + at;
    }
    return -1;
}
