/* SPDX-License-Identifier: BSD-3-Clause */
/* loader.c - finds the CUDA driver that the program has loaded, if it has.
 *
 * No pointer is a GPU pointer before libcuda is in the process, and the answer
 * changes only when an object is loaded. The dynamic linker counts its loads;
 * reading the counter costs 15 ns, asking for the library 40 us, so the second
 * happens only when the first has changed. */
#include "cuda/internal.h"

#include "base/log.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned long long seen_loads;
static _Atomic(void *) library; /* held for the life of the process */
static struct driver table;
static atomic_int table_state; /* 0: not filled yet, 1: usable, -1: not */
static unsigned forks;         /* counted, since getpid costs a system call */

static int first_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(unsigned long long *)arg = info->dlpi_adds;
    return 1;
}

int cx_cuda_loaded(void)
{
    unsigned long long loads = 0;
    void *handle;

    if (atomic_load_explicit(&library, memory_order_acquire))
        return 1;
    dl_iterate_phdr(first_object, &loads);
    if (loads == atomic_load_explicit(&seen_loads, memory_order_relaxed))
        return 0;
    handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (handle)
        atomic_store_explicit(&library, handle, memory_order_release);
    else
        atomic_store_explicit(&seen_loads, loads, memory_order_relaxed);
    return handle != NULL;
}

static const struct {
    const char *name;
    size_t at; /* offset in struct driver */
    int required;
} symbol[] = {
#define CX_CUDA_FN(name) {#name, offsetof(struct driver, name), 1},
#define CX_CUDA_OPT(name) {#name, offsetof(struct driver, name), 0},
#include "cuda/driver.def"
#undef CX_CUDA_FN
#undef CX_CUDA_OPT
};

static int fill_table(void *handle)
{
    for (size_t i = 0; i < sizeof(symbol) / sizeof(symbol[0]); i++) {
        void *fn = dlsym(handle, symbol[i].name);

        if (!fn && symbol[i].required) {
            cx_warn("the CUDA driver has no %s: install a newer one",
                    symbol[i].name);
            return -1;
        }
        memcpy((char *)&table + symbol[i].at, &fn, sizeof(fn));
    }
    return 1;
}

const struct driver *cx_cuda_driver(void)
{
    int state = atomic_load_explicit(&table_state, memory_order_acquire);

    if (!state && cx_cuda_loaded()) {
        pthread_mutex_lock(&lock);
        state = atomic_load(&table_state);
        if (!state) {
            state = fill_table(atomic_load(&library));
            atomic_store_explicit(&table_state, state, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    return state > 0 ? &table : NULL;
}

int cx_cuda_unusable(void)
{
    return atomic_load_explicit(&table_state, memory_order_acquire) < 0;
}

static void count_fork(void)
{
    forks++;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

unsigned cx_cuda_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, watch_forks);
    return forks;
}

const struct driver *cx_cuda_ready(struct cx_gpu *gpu)
{
    if (!gpu->driver) {
        gpu->driver = cx_cuda_driver();
        if (!gpu->driver)
            return NULL;
    }
    return gpu->forks == forks ? gpu->driver : NULL;
}

enum cx_status cx_cuda_fail(const struct driver *cu, const char *call,
                            CUresult res)
{
    const char *text = NULL;

    if (!cu->cuGetErrorString ||
        cu->cuGetErrorString(res, &text) != CUDA_SUCCESS || !text)
        text = "unknown error";
    cx_error("%s failed: %s (%d)", call, text, (int)res);
    return CX_ERR_GPU;
}

int cx_cuda_gone(CUresult res)
{
    return res == CUDA_ERROR_DEINITIALIZED ||
           res == CUDA_ERROR_NOT_INITIALIZED ||
           res == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
           res == CUDA_ERROR_INVALID_CONTEXT ||
           res == CUDA_ERROR_INVALID_HANDLE;
}

unsigned long long cx_cuda_ctx_id(const struct driver *cu, CUcontext ctx)
{
    unsigned long long id = 0;

    if (!cu->cuCtxGetId || cu->cuCtxGetId(ctx, &id) != CUDA_SUCCESS)
        return 0;
    return id;
}
