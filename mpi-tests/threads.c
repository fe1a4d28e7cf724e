/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - MPI_THREAD_MULTIPLE: threads with a communicator each, in
 * whatever order the scheduler likes. A lock held through a collective
 * deadlocks here.
 *
 * threads [--gpu] */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"

#define NTHREADS 3
#define CALLS 40
#define MOST 30000

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    enum mt_kind kind;
    int number;
    long done, wrong;
};

static double value(int rank, int i, int salt)
{
    return rank * 31 + i + salt;
}

static void one_call(struct worker *w, struct mt_buf *buf, double *data,
                     double *want, int call)
{
    int n = call % 3 ? 1 + call * 700 : 2, root = call % mt.size;
    size_t nbytes = (size_t)n * sizeof(double);

    for (int i = 0; i < n; i++) {
        data[i] = value(mt.rank, i, w->number);
        want[i] = value(root, i, w->number);
        if (call % 2)
            want[i] = 31.0 * (mt.size * (mt.size - 1) / 2) +
                      (double)mt.size * (i + w->number);
    }
    mt_buf_arm(buf, nbytes, 0);
    mt_buf_write(buf, 0, data, nbytes);
    if (call % 2)
        MPI_Allreduce(MPI_IN_PLACE, buf->ptr, n, MPI_DOUBLE, MPI_SUM, w->comm);
    else
        MPI_Bcast(buf->ptr, n, MPI_DOUBLE, root, w->comm);
    mt_buf_read(buf, 0, data, nbytes);
    w->wrong += memcmp(data, want, nbytes) != 0;
    w->wrong += !mt_buf_guarded(buf, nbytes);
    w->done++;
}

static void *work(void *arg)
{
    struct worker *w = arg;
    double *data = mt_alloc(MOST * sizeof *data);
    double *want = mt_alloc(MOST * sizeof *want);
    struct mt_buf buf;

    mt_buf_create(&buf, w->kind, MOST * sizeof(double), 0);
    for (int call = 0; call < CALLS; call++)
        one_call(w, &buf, data, want, call);
    mt_buf_destroy(&buf);
    free(data);
    free(want);
    return NULL;
}

int main(int argc, char **argv)
{
    struct worker workers[NTHREADS];
    int gpu = mt_option(argc, argv, "gpu", NULL) != NULL;

    mt_init_thread(MPI_THREAD_MULTIPLE);
    if (gpu)
        mt_cuda_open();
    for (int t = 0; t < NTHREADS; t++) {
        workers[t] = (struct worker){
            .number = t, .kind = gpu && t != 1 ? MT_DEVICE : MT_HOST};
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
    }
    for (int t = 0; t < NTHREADS; t++) /* odd ranks start the last one first */
        pthread_create(&workers[mt.rank % 2 ? NTHREADS - 1 - t : t].thread,
                       NULL, work,
                       &workers[mt.rank % 2 ? NTHREADS - 1 - t : t]);
    for (int t = 0; t < NTHREADS; t++)
        pthread_join(workers[t].thread, NULL);
    for (int t = 0; t < NTHREADS; t++) {
        mt_check(workers[t].done == CALLS && !workers[t].wrong,
                 "thread %d: %ld of %ld calls are wrong", t, workers[t].wrong,
                 workers[t].done);
        MPI_Comm_free(&workers[t].comm);
    }
    return mt_finish();
}
