/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c - the whole engine at MPI_THREAD_MULTIPLE: ranks in one process,
 * each with several threads that make teams, call collectives on host and GPU
 * memory, copy, and destroy the teams, all at once. For the thread sanitizer
 * above all.
 *
 * Usage: unit-engine LIBRARY (engine_rank's, of which each rank gets a copy) */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine_mpi.h"
#include "engine_rank.h"
#include "fakegpu.h"
#include "memwire.h"
#include "unit.h"

#define NRANKS 3
#define NTHREADS 3
#define TEAMS 4 /* a thread, one after the other */
#define CALLS 6 /* a team */
#define COUNT 3000
#define NBYTES (COUNT * sizeof(int32_t))

struct rank {
    struct cx_engine_api api;
    struct cx_gpu *gpu;
    char path[32]; /* of the copy: kept, so that reports name its lines */
};

struct worker {
    pthread_t thread;
    struct rank *rank;
    struct engine_comm *comm;
    int number, index;        /* of the rank, of the thread */
    char *user[2], *bytes[2]; /* as the engine and as the test sees them */
    void *host; /* for copies; the fake GPU wants staging memory */
};

static struct rank ranks[NRANKS];

/* A copy of the file is a library of its own: its globals are the rank's. */
static void load(struct rank *rank, struct memnet *net, int number,
                 const char *library)
{
    struct cx_engine_api *api = &rank->api;
    struct engine_rank setup = {.wire_ops = &memwire_ops,
                                .wire = memnet_wire(net, number),
                                .gpu_ops = &fakegpu_ops};
    enum cx_status (*open)(const struct cx_mpi_services *,
                           struct cx_engine_api *);
    char *path = rank->path, command[4200];
    int fd;
    engine_rank_fn prepare;
    void *handle;

    strcpy(path, "/tmp/coax-engine.XXXXXX");
    fd = mkstemp(path);
    CHECK(fd >= 0, "%s", path);
    close(fd);
    snprintf(command, sizeof(command), "cp '%s' %s", library, path);
    CHECK(system(command) == 0, "%s", command);
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(handle != NULL, "%s", dlerror());
    *(void **)&prepare = dlsym(handle, "coax_rank_setup");
    *(void **)&open = dlsym(handle, CX_ENGINE_SYMBOL);
    CHECK(prepare && open, "symbols of %s", library);
    setup.gpu = rank->gpu = fakegpu_create((size_t)8 << 20);
    fakegpu_configure(rank->gpu, (uint64_t)number + 1, 2);
    prepare(&setup);
    api->size = sizeof(*api);
    api->version = CX_BRIDGE_VERSION;
    CHECK(open(&engine_services, api) == CX_OK, "rank %d", number);
}

static int32_t input(int rank, size_t i, int salt)
{
    return (int32_t)(i * 7 + (size_t)rank * 1000 + (size_t)salt);
}

static void collective(struct worker *w, struct cx_team *team,
                       struct cx_call *call)
{
    const struct cx_engine_api *api = &w->rank->api;
    struct cx_result result;
    enum cx_path path;
    const char *why;

    CHECK(api->route(team, call, &path, &why) == CX_OK, "rank %d", w->number);
    CHECK(path == CX_PATH_ENGINE, "rank %d: %s", w->number, why);
    CHECK(api->mem_query(call->dst, 1, &call->dst_mem) == CX_OK, "query");
    if (call->src)
        CHECK(api->mem_query(call->src, 1, &call->src_mem) == CX_OK, "query");
    CHECK(api->collective(team, call, &result) == CX_OK, "rank %d, thread %d",
          w->number, w->index);
}

static void allreduce(struct worker *w, struct cx_team *team, size_t count,
                      int salt)
{
    struct cx_call call = {.func = CX_ALLREDUCE,
                           .src = w->user[0],
                           .dst = w->user[1],
                           .count = count,
                           .dtype = CX_DT_I32,
                           .op = CX_SUM};
    int32_t *in = (int32_t *)(void *)w->bytes[0];
    const int32_t *out = (int32_t *)(void *)w->bytes[1];

    for (size_t i = 0; i < count; i++)
        in[i] = input(w->number, i, salt);
    collective(w, team, &call);
    for (size_t i = 0; i < count; i++) {
        int32_t want = 0;

        for (int r = 0; r < NRANKS; r++)
            want += input(r, i, salt);
        CHECK(out[i] == want, "rank %d, thread %d: element %zu", w->number,
              w->index, i);
    }
}

static void bcast(struct worker *w, struct cx_team *team, int root, int salt)
{
    struct cx_call call = {.func = CX_BCAST,
                           .dst = w->user[0],
                           .count = NBYTES,
                           .dtype = CX_DT_BYTE,
                           .root = root};
    int32_t *data = (int32_t *)(void *)w->bytes[0];

    for (size_t i = 0; i < COUNT; i++)
        data[i] = input(w->number, i, salt);
    collective(w, team, &call);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(data[i] == input(root, i, salt),
              "rank %d, thread %d: element %zu", w->number, w->index, i);
}

static void allgather(struct worker *w, struct cx_team *team, int salt)
{
    struct cx_call call = {.func = CX_ALLGATHER,
                           .src = w->user[0],
                           .dst = w->user[1],
                           .count = NBYTES,
                           .dtype = CX_DT_BYTE};
    int32_t *in = (int32_t *)(void *)w->bytes[0];
    const int32_t *out = (int32_t *)(void *)w->bytes[1];

    for (size_t i = 0; i < COUNT; i++)
        in[i] = input(w->number, i, salt);
    collective(w, team, &call);
    for (size_t i = 0; i < COUNT * NRANKS; i++)
        CHECK(out[i] == input((int)(i / COUNT), i % COUNT, salt),
              "rank %d, thread %d: element %zu", w->number, w->index, i);
}

/* The front's staging: a copy between collectives of other threads. */
static void copy(struct worker *w)
{
    const struct cx_engine_api *api = &w->rank->api;
    struct cx_mem mem;

    CHECK(api->mem_query(w->user[0], NBYTES, &mem) == CX_OK, "query");
    if (!cx_mem_on_gpu(&mem))
        return;
    memset(w->host, 0, NBYTES);
    CHECK(api->mem_copy2d(&mem, 1, w->host, NBYTES, w->user[0], NBYTES, NBYTES,
                          1) == CX_OK,
          "copy");
    CHECK(memcmp(w->host, w->bytes[0], NBYTES) == 0, "rank %d, thread %d",
          w->number, w->index);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    const struct cx_engine_api *api = &w->rank->api;
    struct cx_team_params params = {.comm =
                                        engine_comm_member(w->comm, w->number),
                                    .rank = w->number,
                                    .size = NRANKS,
                                    .timeout_s = 60};

    for (int k = 0; k < TEAMS; k++) {
        struct cx_team *team;
        char why[256];

        CHECK(api->team_create(&params, &team, why, sizeof(why)) == CX_OK,
              "rank %d: %s", w->number, why);
        for (int i = 0; i < CALLS; i++) {
            int salt = w->index * 100 + k * 10 + i;

            allreduce(w, team, i % 2 ? COUNT : 5, salt);
            bcast(w, team, i % NRANKS, salt);
            for (int n = 0; n < 8; n++)
                copy(w);
            allgather(w, team, salt);
        }
        api->team_destroy(team);
    }
    return NULL;
}

/* Threads 0 and up: host, GPU, GPU. */
static void place(struct worker *w)
{
    size_t nbytes[2] = {NBYTES, NBYTES * NRANKS};
    struct cx_mem mem;

    for (int k = 0; k < 2; k++) {
        if (w->index > 0) {
            w->user[k] =
                fakegpu_alloc(w->rank->gpu, nbytes[k], CX_MEM_DEVICE, 0, &mem);
            w->bytes[k] = fakegpu_peek(w->rank->gpu, w->user[k]);
            if (k == 0)
                CHECK(fakegpu_ops.pinned_alloc(w->rank->gpu, &mem, NBYTES,
                                               &w->host) == CX_OK,
                      "staging");
        } else {
            w->user[k] = w->bytes[k] = must_alloc(nbytes[k]);
        }
    }
}

int main(int argc, char **argv)
{
    struct memnet_params params = {.seed = 5, .max_delay = 2};
    struct memnet *net = memnet_create(NRANKS);
    struct worker *workers = must_alloc(NRANKS * NTHREADS * sizeof(*workers));
    struct engine_comm *comms[NTHREADS];

    CHECK(argc == 2, "usage: %s LIBRARY", argv[0]);
    setenv("COAX_SMALL", "0", 1);
    memnet_configure(net, &params);
    for (int t = 0; t < NTHREADS; t++)
        comms[t] = engine_comm_create(NRANKS);
    for (int i = 0; i < NRANKS * NTHREADS; i++) {
        struct worker *w = &workers[i];

        w->number = i / NTHREADS;
        w->index = i % NTHREADS;
        w->rank = &ranks[w->number];
        w->comm = comms[w->index];
        if (w->index == 0)
            load(w->rank, net, w->number, argv[1]);
        place(w);
    }
    for (int i = 0; i < NRANKS * NTHREADS; i++)
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0,
              "thread %d", i);
    for (int i = 0; i < NRANKS * NTHREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < NRANKS; i++)
        ranks[i].api.close();
    for (int i = 0; i < NRANKS * NTHREADS; i++)
        if (workers[i].host)
            fakegpu_ops.pinned_free(workers[i].rank->gpu, workers[i].host);
    for (int i = 0; i < NRANKS; i++) {
        free(workers[i * NTHREADS].user[0]);
        free(workers[i * NTHREADS].user[1]);
        fakegpu_destroy(ranks[i].gpu);
        unlink(ranks[i].path);
    }
    for (int t = 0; t < NTHREADS; t++)
        engine_comm_destroy(comms[t]);
    free(workers);
    memnet_destroy(net);
    return 0;
}
