/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c - the engine's one entry, and what is one per process. */
#include "engine/engine.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cuda/cuda_gpu.h"
#include "ucx/ucx.h"

struct cx_process cx_process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum cx_status describe(char *out, size_t n)
{
    struct cx_io *io = &cx_process.io;
    struct cx_wire *wire = io->wire;
    char wire_text[512] = "none", gpu_text[256] = "none";
    enum cx_status status = CX_OK;

    if (wire == NULL)
        status = cx_ucx_create(cx_process.settings.net_devices, &wire);
    if (status == CX_OK)
        cx_ucx_describe(wire, wire_text, sizeof(wire_text));
    if (status == CX_OK && wire != io->wire)
        cx_ucx_destroy(wire);
    if (io->gpu != NULL)
        cx_cuda_describe(io->gpu, gpu_text, sizeof(gpu_text));
    snprintf(out, n, "wire %s, GPUs %s", wire_text, gpu_text);
    return status;
}

/* MPI goes away; transfers have all been flushed by the calls that made them.
 * UCX stays until close: a peer may still be reading what was sent to it. */
static void quiesce(void)
{
    while (cx_process.teams != NULL)
        cx_team_destroy(cx_process.teams);
}

static void close_engine(void)
{
    struct cx_io *io = &cx_process.io;

    quiesce();
    if (io->wire != NULL)
        cx_ucx_destroy(io->wire);
    cx_scratch_fini(&cx_process.scratch);
    if (io->gpu != NULL)
        cx_cuda_destroy(io->gpu);
    cx_chooser_destroy(cx_process.chooser);
    cx_settings_fini(&cx_process.settings);
    memset(io, 0, sizeof(*io));
    cx_process.chooser = NULL;
    cx_log_fini();
}

__attribute__((visibility("default"))) enum cx_status
coax_engine_open(const struct cx_mpi_services *svc, struct cx_engine_api *api);

enum cx_status coax_engine_open(const struct cx_mpi_services *svc,
                                struct cx_engine_api *api)
{
    struct cx_io *io = &cx_process.io;
    const struct cx_settings *s = &cx_process.settings;
    enum cx_status status;

    if (api->version != CX_BRIDGE_VERSION || api->size != sizeof(*api) ||
        (svc != NULL &&
         (svc->version != CX_BRIDGE_VERSION || svc->size != sizeof(*svc))))
        return CX_ERR_CONFIG;
    cx_settings_load(&cx_process.settings);
    cx_log_init((enum cx_log_level)s->debug, s->debug_file,
                svc != NULL ? svc->world_rank : -1);
    cx_process.svc = svc;
    cx_process.threaded = svc != NULL && svc->thread_multiple();
    io->gpu_ops = &cx_cuda_ops;
    io->scratch = &cx_process.scratch;
    api->why[0] = '\0';
    cx_log_hold(api->why, sizeof(api->why)); /* for the front to say */
    status = cx_cuda_create((enum cx_sync)s->sync, &io->gpu);
    cx_log_hold(NULL, 0);
    if (status != CX_OK)
        return status;
    *api = (struct cx_engine_api){
        .size = sizeof(*api),
        .version = CX_BRIDGE_VERSION,
        .build_id = COAX_BUILD_ID,
        .settings_check = cx_settings_check,
        .team_create = cx_team_create,
        .team_destroy = cx_team_destroy,
        .route = cx_call_route,
        .collective = cx_call_run,
        .mem_query = cx_memory_query,
        .mem_piece = cx_memory_piece,
        .mem_copy2d = cx_memory_copy2d,
        .errors = cx_log_errors,
        .describe = describe,
        .quiesce = quiesce,
        .close = close_engine,
    };
    return CX_OK;
}
