/* SPDX-License-Identifier: BSD-3-Clause */
/* query.c - what a pointer is: before CUDA, of every kind, on two devices, in
 * threads, in children; and that asking changes nothing. Run with 2 devices. */
#include "gpu_test.h"

#include <pthread.h>
#include <sys/wait.h>

enum { N = 1 << 20 };

static struct cx_gpu *gpu;
static CUcontext ctx0, ctx1;
static char *dev0, *dev1;
static char plain[8192];

static enum cx_mem_kind kind(const void *ptr, size_t n)
{
    return query(gpu, ptr, n).kind;
}

/* Nothing is known before the program has loaded and started CUDA. */
static void before_cuda(void)
{
    char text[100];

    CHECK(!cx_cuda_loaded());
    CHECK(kind(plain, sizeof(plain)) == CX_MEM_HOST);
    cx_cuda_describe(gpu, text, sizeof(text));
    CHECK(strstr(text, "none"));
    app_load();
    CHECK(cx_cuda_loaded());
    CHECK(kind(plain, sizeof(plain)) == CX_MEM_HOST);
    cx_cuda_describe(gpu, text, sizeof(text));
    CHECK(strstr(text, "none"));
    app_control();
    CU(cuInit(0));
    CHECK(kind(plain, sizeof(plain)) == CX_MEM_HOST);
    CHECK(app.sim->counters->contexts_made == 0);
    cx_cuda_describe(gpu, text, sizeof(text));
    printf("%s\n", text);
    CHECK(!strncmp(text, "2 x ", 4) && strstr(text, "driver 13.0"));
    CHECK(app.sim->counters->contexts_made == 0);
}

static void allocate(void)
{
    CU(cuDevicePrimaryCtxRetain(&ctx1, 1));
    CU(cuCtxSetCurrent(ctx1));
    dev1 = device_alloc(N);
    CU(cuDevicePrimaryCtxRetain(&ctx0, 0));
    CU(cuCtxSetCurrent(ctx0));
    dev0 = device_alloc(N);
}

static void check_device(const struct cx_mem *mem, int device, CUcontext ctx)
{
    CHECK(mem->kind == CX_MEM_DEVICE && mem->device == device);
    CHECK(mem->ctx == (void *)ctx && mem->buffer_id != 0);
}

static void kinds(void)
{
    struct cx_mem mem, again;
    CUdeviceptr managed;
    void *pinned;

    mem = query(gpu, plain, sizeof(plain));
    CHECK(mem.kind == CX_MEM_HOST && mem.device == -1);
    CHECK(!mem.ctx && !mem.buffer_id);
    CHECK(kind(NULL, 0) == CX_MEM_HOST);
    CHECK(kind(dev0, 0) == CX_MEM_HOST);

    mem = query(gpu, dev0, N);
    check_device(&mem, 0, ctx0);
    again = query(gpu, dev0 + N - 1, 1);
    check_device(&again, 0, ctx0);
    CHECK(again.buffer_id == mem.buffer_id);
    mem = query(gpu, dev1 + 5, N - 5);
    check_device(&mem, 1, ctx1);
    CHECK(mem.buffer_id != again.buffer_id);

    CU(cuMemAllocManaged(&managed, N, CU_MEM_ATTACH_GLOBAL));
    CHECK(kind((void *)(uintptr_t)managed, N) == CX_MEM_MANAGED);
    CU(cuMemFree_v2(managed));
    CU(cuMemAllocHost_v2(&pinned, N));
    mem = query(gpu, pinned, N);
    CHECK(mem.kind == CX_MEM_PINNED && mem.device == -1 && !mem.ctx);
    CU(cuMemFreeHost(pinned));
}

/* Registered from the first page to the last, then only in part. */
static void registered(void)
{
    char *pages = aligned_alloc(4096, 4 * 4096);

    CHECK(pages);
    CU(cuMemHostRegister_v2(pages, 2 * 4096, 0));
    CHECK(kind(pages, 2 * 4096) == CX_MEM_PINNED);
    CHECK(kind(pages, 4 * 4096) == CX_MEM_HOST);
    CHECK(kind(pages + 2 * 4096, 4096) == CX_MEM_HOST);
    CU(cuMemHostUnregister(pages));
    CHECK(kind(pages, 2 * 4096) == CX_MEM_HOST);
    free(pages);
}

/* A range whose ends are not one kind of memory. */
static void ends(void)
{
    size_t past = (size_t)1 << 40, apart;
    struct cx_mem mem = {.device = 77};

    CHECK(kind(dev0, past) == CX_MEM_MIXED);
    CHECK(kind(dev0 - past, past + 1) == CX_MEM_MIXED);
    apart = (size_t)(dev1 > dev0 ? dev1 - dev0 : dev0 - dev1);
    CHECK(kind(dev1 > dev0 ? dev0 : dev1, apart + 1) == CX_MEM_MIXED);
    mem = query(gpu, dev0, past);
    CHECK(cx_mem_on_gpu(&mem) && !mem.ctx && mem.device == -1);
}

static size_t piece(const void *ptr, size_t n, struct cx_mem *mem)
{
    size_t reach = 0;

    CHECK(OPS->piece(gpu, ptr, n, mem, &reach) == CX_OK);
    CHECK(reach > 0 && reach <= n);
    return reach;
}

/* Two allocations, perhaps side by side: not one memory, though of one context.
 * A piece ends where its allocation does. */
static void pieces(void)
{
    char *a = device_alloc(N), *b = device_alloc(N), *low, *high;
    struct cx_mem mem;

    low = a < b ? a : b;
    high = a < b ? b : a;
    CHECK(kind(low, (size_t)(high - low) + N) == CX_MEM_MIXED);
    CHECK(kind(low + N - 1, (size_t)(high - low) - N + 2) == CX_MEM_MIXED);
    CHECK(piece(low, (size_t)(high - low) + N, &mem) == N);
    check_device(&mem, 0, ctx0);
    CHECK(piece(low + 5, N + 1, &mem) == N - 5);
    CHECK(piece(low + N - 1, 9, &mem) == 1);
    CHECK(piece(low, 12, &mem) == 12);
    CHECK(piece(dev1 + 7, (size_t)1 << 40, &mem) == N - 7);
    check_device(&mem, 1, ctx1);
    /* Host memory may end at the next block that CUDA could have. */
    CHECK(piece(plain, sizeof(plain), &mem) <= sizeof(plain));
    CHECK(mem.kind == CX_MEM_HOST && !mem.ctx);
    CHECK(((uintptr_t)plain + piece(plain, 16 << 20, &mem)) % (2 << 20) == 0);
    device_free(a);
    device_free(b);
}

/* Of a host buffer within one page one end is asked, else both. */
static void questions(void)
{
    char *page = aligned_alloc(4096, 2 * 4096);
    uint64_t before = calls("cuPointerGetAttributes");

    CHECK(page && kind(page, 4096) == CX_MEM_HOST);
    CHECK(calls("cuPointerGetAttributes") == before + 1);
    CHECK(kind(page + 4095, 2) == CX_MEM_HOST);
    CHECK(calls("cuPointerGetAttributes") == before + 3);
    CHECK(kind(dev0, 2) == CX_MEM_DEVICE);
    CHECK(calls("cuPointerGetAttributes") == before + 5);
    CHECK(calls("cuPointerGetAttribute") == 0);
    free(page);
}

/* The same address again is another buffer. */
static void reused_address(void)
{
    void *a = device_alloc(N), *b;
    uint64_t id = query(gpu, a, N).buffer_id;

    device_free(a);
    b = device_alloc(N);
    CHECK(query(gpu, b, N).buffer_id != id);
    device_free(b);
}

static void *without_context(void *arg)
{
    char buf[16] = "";
    struct cx_mem mem;

    (void)arg;
    CHECK(current() == NULL);
    mem = query(gpu, dev1, N);
    check_device(&mem, 1, ctx1);
    CHECK(OPS->fence(gpu, &mem) == CX_OK);
    copy(gpu, &mem, 0, dev1, "from a thread", 14);
    copy(gpu, &mem, 1, buf, dev1, 14);
    CHECK(!strcmp(buf, "from a thread"));
    CHECK(current() == NULL);
    return NULL;
}

static void threads(void)
{
    uint64_t made = app.sim->counters->contexts_made;
    pthread_t thread;

    CHECK(!pthread_create(&thread, NULL, without_context, NULL));
    CHECK(!pthread_join(thread, NULL));
    CHECK(current() == ctx0);
    CHECK(app.sim->counters->contexts_made == made && made == 2);
}

/* CUDA is unusable in a child, so there is nothing but host memory, and all
 * that ends there ends quietly. */
static void children(void)
{
    int status;
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (!pid) {
        char text[100];

        CHECK(kind(dev0, N) == CX_MEM_HOST);
        OPS->progress(gpu);
        cx_cuda_describe(gpu, text, sizeof(text));
        CHECK(strstr(text, "none"));
        cx_cuda_destroy(gpu);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
    CHECK(kind(dev0, N) == CX_MEM_DEVICE);
}

static void driver_errors(void)
{
    struct cx_mem mem;

    /* The driver ends, or never started: everything is host memory. */
    CHECK(!app.sim->set_faults("cuPointerGetAttributes:1=3"));
    CHECK(kind(dev0, 1) == CX_MEM_HOST);
    CHECK(!app.sim->set_faults("cuPointerGetAttributes:1+=4"));
    CHECK(kind(dev0, N) == CX_MEM_HOST);
    /* Refused without the right context, granted in another. */
    CHECK(!app.sim->set_faults("cuPointerGetAttributes:1=201"));
    CHECK(kind(dev1, N) == CX_MEM_DEVICE);
    CHECK(!app.sim->set_faults("cuPointerGetAttributes:1=500,"
                               "cuPointerGetAttributes:2=500"));
    CHECK(kind(dev1, N) == CX_MEM_DEVICE);
    CHECK(!app.sim->set_faults("cuPointerGetAttributes:1+=700"));
    CHECK(OPS->query(gpu, dev0, N, &mem) == CX_ERR_GPU);
    CHECK(!app.sim->set_faults(NULL));
    CHECK(current() == ctx0);
}

int main(void)
{
    cx_log_init(CX_LOG_ERROR, "/dev/null", 0);
    gpu = gpu_new();
    before_cuda();
    allocate();
    kinds();
    registered();
    ends();
    pieces();
    questions();
    reused_address();
    threads();
    children();
    driver_errors();
    CHECK(current() == ctx0);
    cx_cuda_destroy(gpu);
    CHECK(current() == ctx0);
    CHECK(cx_alloc_live() == 0);
    device_free(dev0);
    device_free(dev1);
    return 0;
}
