/* SPDX-License-Identifier: BSD-3-Clause */
/* staging.c - collectives whose staging memory is pinned in a context that the
 * program resets between them: the address of the context stays, the memory
 * goes. One rank alone, so that no wire is needed. Run with 2 devices. */
#include "gpu_test.h"

#include "coll/coll.h"

enum { N = 1 << 16 };

static struct cx_gpu *gpu;
static char *in, *out, host[2][N];

static void allocate(void)
{
    CUcontext ctx;

    CU(cuDevicePrimaryCtxRetain(&ctx, 0));
    CU(cuCtxSetCurrent(ctx));
    in = device_alloc(N);
    out = device_alloc(N);
}

static void one_call(struct cx_instance *inst, unsigned seed)
{
    struct cx_run run = {.src = in,
                         .dst = out,
                         .src_mem = query(gpu, in, N),
                         .dst_mem = query(gpu, out, N),
                         .count = N / 4,
                         .elsize = 4,
                         .dtype = CX_DT_I32,
                         .op = CX_SUM,
                         .tiling = {.tile_count = 1000, .depth = 3},
                         .call = seed};
    double until = cx_now_us() + LIMIT_US;
    enum cx_status status;

    fill(host[0], N, seed);
    memset(host[1], 0, N);
    device_write(in, host[0], N);
    CHECK(cx_instance_start(inst, &run) == CX_OK);
    while ((status = cx_instance_progress(inst)) == CX_INPROGRESS) {
        if (!OPS->progress(gpu))
            sched_yield();
        CHECK(cx_now_us() < until);
    }
    CHECK(status == CX_OK);
    device_read(host[1], out, N);
    CHECK(!memcmp(host[0], host[1], N));
}

static void across_resets(const struct cx_algorithm *algorithm,
                          const char *faults)
{
    struct cx_shape shape = {.rank = 0, .nranks = 1};
    struct cx_instance *inst;
    struct cx_plan *plan;
    struct cx_scratch scratch = {0};
    struct cx_io io = {.gpu_ops = OPS, .scratch = &scratch};
    uint64_t allocs;

    gpu = io.gpu = gpu_new();
    CHECK(!app.sim->set_faults(faults));
    CHECK(algorithm->generate(&shape, &plan) == CX_OK);
    CHECK(cx_instance_create(plan, &io, NULL, &inst) == CX_OK);
    for (unsigned reset = 0; reset < 3; reset++) {
        allocate();
        one_call(inst, 10 * reset);
        allocs = calls("cuMemHostAlloc");
        one_call(inst, 10 * reset + 1);
        CHECK(calls("cuMemHostAlloc") == allocs);
        CU(cuDevicePrimaryCtxReset_v2(0));
    }
    cx_instance_destroy(inst);
    cx_plan_destroy(plan);
    cx_scratch_fini(&scratch);
    cx_cuda_destroy(gpu);
    CHECK(!app.sim->set_faults(NULL));
    CHECK(cx_alloc_live() == 0);
}

int main(void)
{
    app_start();
    CU(cuDevicePrimaryCtxReset_v2(0));
    for (int i = 0; cx_algorithms[i]; i++) {
        if (cx_algorithms[i]->func != CX_ALLREDUCE)
            continue;
        across_resets(cx_algorithms[i], NULL);
        across_resets(cx_algorithms[i], "cuCtxGetId:1+=801");
    }
    return 0;
}
