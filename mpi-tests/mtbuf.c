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

/* --- memory that takes more than one call of CUDA; structs of its ABI --------
 */

/* The size of the pieces that mapped memory is made of. */
#define MT_CHUNK ((size_t)2 << 20)

enum { LOCATION_DEVICE = 1, TYPE_PINNED = 1, READ_WRITE = 3 };

struct location {
    int type, id;
};

struct properties {
    int type, handles;
    struct location location;
    void *unused;
    unsigned char flags[8];
};

struct access {
    struct location location;
    int flags;
};

static struct {
    int (*MallocAsync)(void **, size_t, void *);
    int (*FreeAsync)(void *, void *);
    int (*HostRegister)(void *, size_t, unsigned);
    int (*HostUnregister)(void *);
    int (*MemAddressReserve)(unsigned long long *, size_t, size_t,
                             unsigned long long, unsigned long long);
    int (*MemAddressFree)(unsigned long long, size_t);
    int (*MemCreate)(unsigned long long *, size_t, const struct properties *,
                     unsigned long long);
    int (*MemRelease)(unsigned long long);
    int (*MemMap)(unsigned long long, size_t, size_t, unsigned long long,
                  unsigned long long);
    int (*MemUnmap)(unsigned long long, size_t);
    int (*MemSetAccess)(unsigned long long, size_t, const struct access *,
                        size_t);
} fn;

static void load(void *member, const char *name, int runtime)
{
    void *lib = dlopen(runtime ? "libcudart.so.13" : "libcuda.so.1",
                       RTLD_NOW | RTLD_NOLOAD);
    void *symbol;

    if (!lib && runtime)
        lib = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
    symbol = lib ? dlsym(lib, name) : NULL;
    if (!symbol)
        mt_die("no CUDA function %s", name);
    *(void **)member = symbol;
}

static void open_once(void)
{
    if (fn.MallocAsync)
        return;
    mt_cuda_open();
    load(&fn.FreeAsync, "cudaFreeAsync", 1);
    load(&fn.HostRegister, "cudaHostRegister", 1);
    load(&fn.HostUnregister, "cudaHostUnregister", 1);
    load(&fn.MemAddressReserve, "cuMemAddressReserve", 0);
    load(&fn.MemAddressFree, "cuMemAddressFree", 0);
    load(&fn.MemCreate, "cuMemCreate", 0);
    load(&fn.MemRelease, "cuMemRelease", 0);
    load(&fn.MemMap, "cuMemMap", 0);
    load(&fn.MemUnmap, "cuMemUnmap", 0);
    load(&fn.MemSetAccess, "cuMemSetAccess", 0);
    load(&fn.MallocAsync, "cudaMallocAsync", 1);
}

static void *enter_device(int device)
{
    void *ctx;

    mt_cuda_ok(cuda.CtxGetCurrent(&ctx), "cuCtxGetCurrent");
    mt_cuda_ok(cuda.SetDevice(device), "cudaSetDevice");
    return ctx;
}

static void leave_device(void *ctx)
{
    mt_cuda_ok(cuda.CtxSetCurrent(ctx), "cuCtxSetCurrent");
}

static void *pool_alloc(int device, size_t nbytes)
{
    void *ptr, *ctx;

    open_once();
    ctx = enter_device(device);
    mt_cuda_ok(fn.MallocAsync(&ptr, nbytes, NULL), "cudaMallocAsync");
    mt_cuda_ok(cuda.StreamSynchronize(NULL), "cudaStreamSynchronize");
    leave_device(ctx);
    return ptr;
}

static void pool_free(int device, void *ptr)
{
    void *ctx = enter_device(device);

    mt_cuda_ok(fn.FreeAsync(ptr, NULL), "cudaFreeAsync");
    mt_cuda_ok(cuda.StreamSynchronize(NULL), "cudaStreamSynchronize");
    leave_device(ctx);
}

static void grant_all(unsigned long long ptr, size_t nbytes)
{
    int n;

    mt_cuda_ok(cuda.GetDeviceCount(&n), "cudaGetDeviceCount");
    for (int i = 0; i < n; i++) {
        struct access access = {{LOCATION_DEVICE, i}, READ_WRITE};

        mt_cuda_ok(fn.MemSetAccess(ptr, nbytes, &access, 1), "cuMemSetAccess");
    }
}

static void *map_chunks(int device, int second, size_t *nbytes)
{
    unsigned long long ptr, chunk;

    open_once();
    *nbytes = (*nbytes + MT_CHUNK - 1) / MT_CHUNK * MT_CHUNK;
    mt_cuda_ok(fn.MemAddressReserve(&ptr, *nbytes, 0, 0, 0),
               "cuMemAddressReserve");
    for (size_t i = 0; i < *nbytes / MT_CHUNK; i++) {
        struct properties p = {
            .type = TYPE_PINNED,
            .location = {LOCATION_DEVICE, i % 2 ? second : device}};

        mt_cuda_ok(fn.MemCreate(&chunk, MT_CHUNK, &p, 0), "cuMemCreate");
        mt_cuda_ok(fn.MemMap(ptr + i * MT_CHUNK, MT_CHUNK, 0, chunk, 0),
                   "cuMemMap");
        mt_cuda_ok(fn.MemRelease(chunk), "cuMemRelease"); /* stays mapped */
    }
    grant_all(ptr, *nbytes);
    return (void *)(uintptr_t)ptr;
}

static void unmap_chunks(void *ptr, size_t nbytes)
{
    unsigned long long at = (unsigned long long)(uintptr_t)ptr;

    mt_cuda_ok(fn.MemUnmap(at, nbytes), "cuMemUnmap");
    mt_cuda_ok(fn.MemAddressFree(at, nbytes), "cuMemAddressFree");
}

static void *registered_alloc(size_t nbytes)
{
    void *ptr, *ctx;

    open_once();
    if (posix_memalign(&ptr, 4096, nbytes + 4096))
        mt_die("no memory");
    ctx = enter_device(0);
    mt_cuda_ok(fn.HostRegister(ptr, 4096, 0), "cudaHostRegister");
    leave_device(ctx);
    return ptr;
}

static void registered_free(void *ptr)
{
    mt_cuda_ok(fn.HostUnregister(ptr), "cudaHostUnregister");
    free(ptr);
}

/* --- buffers --------------------------------------------------------------
 */

static int on_gpu(const struct mt_buf *buf)
{
    return buf->kind != MT_HOST && buf->kind != MT_PINNED &&
           buf->kind != MT_REGISTERED;
}

/* The buffer's device, where it was made on a certain one. */
static void *enter(const struct mt_buf *buf)
{
    return buf->device >= 0 ? enter_device(buf->device) : NULL;
}

static void leave(const struct mt_buf *buf, void *ctx)
{
    if (buf->device >= 0)
        leave_device(ctx);
}

static void *allocate(struct mt_buf *buf, size_t nbytes)
{
    int device = buf->device > 0 ? buf->device : 0, n = 1;
    void *ptr = NULL;

    switch (buf->kind) {
    case MT_HOST:
        return mt_alloc(nbytes);
    case MT_DEVICE:
        mt_cuda_ok(cuda.Malloc(&ptr, nbytes), "cudaMalloc");
        return ptr;
    case MT_PINNED:
        mt_cuda_ok(cuda.MallocHost(&ptr, nbytes), "cudaMallocHost");
        return ptr;
    case MT_REGISTERED:
        return registered_alloc(nbytes);
    case MT_POOL:
        return pool_alloc(device, nbytes);
    case MT_MAPPED:
    case MT_MAPPED2:
        mt_cuda_ok(cuda.GetDeviceCount(&n), "cudaGetDeviceCount");
        buf->mapped = nbytes + MT_CHUNK; /* room to begin late in the first */
        return map_chunks(device,
                          buf->kind == MT_MAPPED ? device : (device + 1) % n,
                          &buf->mapped);
    default: /* 1: attach global */
        mt_cuda_ok(cuda.MallocManaged(&ptr, nbytes, 1), "cudaMallocManaged");
        return ptr;
    }
}

static void create(struct mt_buf *buf, size_t cap, size_t shift)
{
    if (buf->kind != MT_HOST)
        mt_cuda_open();
    buf->cap = cap;
    buf->alloc = allocate(buf, cap + 2 * MT_GUARD + shift);
    buf->ptr = buf->alloc + MT_GUARD + shift;
    if (buf->mapped) /* all but 64 bytes lie in the next chunk */
        buf->ptr = buf->alloc + MT_CHUNK - 64;
}

void mt_buf_create(struct mt_buf *buf, enum mt_kind kind, size_t cap,
                   size_t shift)
{
    *buf = (struct mt_buf){.kind = kind, .device = -1};
    create(buf, cap, shift);
}

void mt_buf_create_on(struct mt_buf *buf, enum mt_kind kind, int device,
                      size_t cap, size_t shift)
{
    void *ctx;

    mt_cuda_open();
    *buf = (struct mt_buf){.kind = kind, .device = device};
    ctx = enter(buf);
    create(buf, cap, shift);
    leave(buf, ctx);
}

void mt_buf_destroy(struct mt_buf *buf)
{
    int device = buf->device > 0 ? buf->device : 0;

    if (buf->kind == MT_HOST)
        free(buf->alloc);
    else if (buf->kind == MT_PINNED)
        mt_cuda_ok(cuda.FreeHost(buf->alloc), "cudaFreeHost");
    else if (buf->kind == MT_REGISTERED)
        registered_free(buf->alloc);
    else if (buf->kind == MT_POOL)
        pool_free(device, buf->alloc);
    else if (buf->mapped)
        unmap_chunks(buf->alloc, buf->mapped);
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
    void *ctx = enter(buf);

    if (nbytes > buf->cap)
        mt_die("buffer of %zu bytes used for %zu", buf->cap, nbytes);
    fill(buf, buf->ptr - MT_GUARD, GUARD_BYTE, MT_GUARD);
    if (byte >= 0)
        fill(buf, buf->ptr, byte, nbytes);
    fill(buf, buf->ptr + nbytes, GUARD_BYTE, MT_GUARD);
    if (on_gpu(buf)) /* a cudaMemset may return before it has run */
        mt_cuda_ok(cuda.DeviceSynchronize(), "cudaDeviceSynchronize");
    leave(buf, ctx);
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
    void *ctx;

    if (!on_gpu(buf))
        return all_guard(buf->ptr - MT_GUARD) && all_guard(buf->ptr + nbytes);
    ctx = enter(buf);
    mt_cuda_ok(cuda.Memcpy(before, buf->ptr - MT_GUARD, MT_GUARD, MT_D2H),
               "cudaMemcpy");
    mt_cuda_ok(cuda.Memcpy(after, buf->ptr + nbytes, MT_GUARD, MT_D2H),
               "cudaMemcpy");
    leave(buf, ctx);
    return all_guard(before) && all_guard(after);
}

void mt_buf_write(struct mt_buf *buf, size_t off, const void *src,
                  size_t nbytes)
{
    void *ctx;

    if (!nbytes)
        return;
    if (!on_gpu(buf)) {
        memcpy(buf->ptr + off, src, nbytes);
        return;
    }
    ctx = enter(buf);
    mt_cuda_ok(cuda.Memcpy(buf->ptr + off, src, nbytes, MT_H2D), "cudaMemcpy");
    mt_cuda_ok(cuda.DeviceSynchronize(), "cudaDeviceSynchronize");
    leave(buf, ctx);
}

void mt_buf_read(const struct mt_buf *buf, size_t off, void *dst, size_t nbytes)
{
    void *ctx;

    if (!nbytes)
        return;
    if (!on_gpu(buf)) {
        memcpy(dst, buf->ptr + off, nbytes);
        return;
    }
    ctx = enter(buf);
    mt_cuda_ok(cuda.Memcpy(dst, buf->ptr + off, nbytes, MT_D2H), "cudaMemcpy");
    leave(buf, ctx);
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
