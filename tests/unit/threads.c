/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - the ranks of a collective as threads, each driving its own
 * instance; for the thread sanitizer above all. */
#include <pthread.h>
#include <sched.h>

#include "cluster.h"

#define NRANKS 4

struct job {
    struct cluster *cluster;
    const struct call_case *c;
    int rank;
};

static void *run_rank(void *arg)
{
    struct job *job = arg;
    struct member *member = &job->cluster->members[job->rank];
    enum cx_status status;
    unsigned nevents;

    CHECK(cluster_begin(job->cluster, job->c, job->rank) == CX_OK, "rank %d",
          job->rank);
    while ((status = member_step(member, &nevents)) == CX_INPROGRESS)
        if (!nevents)
            sched_yield();
    CHECK(status == CX_OK, "rank %d: %s", job->rank, cx_status_str(status));
    return NULL;
}

static void one_call(struct cluster *cluster, const struct call_case *c)
{
    pthread_t threads[NRANKS];
    struct job jobs[NRANKS];

    cluster_fill(cluster, c);
    for (int i = 0; i < NRANKS; i++) {
        jobs[i] = (struct job){.cluster = cluster, .c = c, .rank = i};
        CHECK(pthread_create(&threads[i], NULL, run_rank, &jobs[i]) == 0,
              "rank %d", i);
    }
    for (int i = 0; i < NRANKS; i++)
        pthread_join(threads[i], NULL);
    cluster_check(cluster, c);
    cluster_drop(cluster);
}

int main(void)
{
    for (int i = 0; cx_algorithms[i]; i++) {
        struct cluster *cluster =
            cluster_create(cx_algorithms[i], NRANKS, 2, 1);
        struct call_case c = {.count = 5000,
                              .dtype = CX_DT_I32,
                              .op = CX_SUM,
                              .elsize = 4,
                              .tiling = {.tile_count = 700, .depth = 3},
                              .net = {.seed = 7, .max_delay = 3},
                              .gpu_delay = 2};

        for (int k = 0; k < 6; k++) {
            c.placement = (enum placement)(k % NPLACEMENTS);
            c.aliasing = k % 2 ? IN_PLACE : OUT_OF_PLACE;
            c.net.eager_limit = k < 3 ? 0 : 1 << 20;
            one_call(cluster, &c);
        }
        cluster_destroy(cluster);
    }
    return 0;
}
