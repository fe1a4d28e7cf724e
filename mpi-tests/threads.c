/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.c - MPI_THREAD_MULTIPLE: threads with a communicator each, in
 * whatever order the scheduler likes; on two communicators in opposite order
 * on two ranks, where a lock held through a collective deadlocks; threads that
 * make, use first and free communicators while others do the same; threads
 * that never touched CUDA.
 *
 * threads [--gpu] [--calls=N]    calls of all threads together */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mt.h"
#include "mtbuf.h"

#define NTHREADS 4
#define MOST 30000

struct worker {
    pthread_t thread;
    MPI_Comm comm;
    enum mt_kind kind;
    int number, calls;
    long done, wrong;
};

static double value(int rank, int i, int salt)
{
    return rank * 31 + i + salt;
}

static void one_call(struct worker *w, struct mt_buf *buf, double *data,
                     double *want, int call)
{
    int n = call % 3 ? 1 + call * 700 % (MOST - 1) : 2, root = call % mt.size;
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

/* Fills, calls and reads by itself. */
static void *work(void *arg)
{
    struct worker *w = arg;
    double *data = mt_alloc(MOST * sizeof *data);
    double *want = mt_alloc(MOST * sizeof *want);
    struct mt_buf buf;

    mt_buf_create(&buf, w->kind, MOST * sizeof(double), 0);
    for (int call = 0; call < w->calls; call++)
        one_call(w, &buf, data, want, call);
    mt_buf_destroy(&buf);
    free(data);
    free(want);
    return NULL;
}

/* Makes, uses for the first time and frees communicators. */
static void *churn(void *arg)
{
    struct worker *w = arg;
    MPI_Comm parent = w->comm;
    struct worker one = *w;

    one.calls = 4;
    one.done = one.wrong = 0;
    for (int i = 0; i < w->calls; i++) {
        if (i % 2)
            MPI_Comm_dup(parent, &one.comm);
        else
            MPI_Comm_split(parent, 0, mt.rank, &one.comm);
        work(&one);
        MPI_Comm_free(&one.comm);
    }
    w->done = one.done / 4;
    w->wrong = one.wrong;
    return NULL;
}

static void run(struct worker *workers, int n, void *(*body)(void *))
{
    for (int k = 0; k < n; k++) { /* odd ranks start the last one first */
        int t = mt.rank % 2 ? n - 1 - k : k;

        workers[t].done = workers[t].wrong = 0;
        if (pthread_create(&workers[t].thread, NULL, body, &workers[t]))
            mt_die("cannot start a thread");
    }
    for (int t = 0; t < n; t++)
        pthread_join(workers[t].thread, NULL);
}

static void check(const struct worker *workers, const char *what)
{
    for (int t = 0; t < NTHREADS; t++)
        mt_check(workers[t].done == workers[t].calls && !workers[t].wrong,
                 "%s, thread %d: %ld of %ld calls are wrong, %d wanted", what,
                 t, workers[t].wrong, workers[t].done, workers[t].calls);
}

/* Each rank is in one of the calls for long before it begins the other, and
 * every rank in another one. The pause only makes it likely. */
static void *late(void *arg)
{
    struct timespec pause = {.tv_nsec = 20000000};
    struct worker *w = arg;

    if (w->number != mt.rank % 2)
        nanosleep(&pause, NULL);
    return work(w);
}

static void opposite(struct worker *workers)
{
    for (int round = 0; round < 6; round++) {
        for (int t = 0; t < 2; t++)
            workers[t].calls = 2;
        run(workers, 2, late);
        for (int t = 0; t < 2; t++)
            mt_check(workers[t].done == 2 && !workers[t].wrong,
                     "opposite order: wrong");
    }
}

/* Only MPI: this thread has no CUDA context. */
static void *bare(void *arg)
{
    struct mt_buf *buf = arg;
    void *context = NULL;

    if (cuda.CtxGetCurrent)
        mt_cuda_ok(cuda.CtxGetCurrent(&context), "cuCtxGetCurrent");
    mt_check(context == NULL, "a new thread has a context");
    for (int i = 0; i < 4; i++)
        MPI_Allreduce(MPI_IN_PLACE, buf->ptr, i % 2 ? 8 : MOST, MPI_DOUBLE,
                      MPI_SUM, MPI_COMM_WORLD);
    if (cuda.CtxGetCurrent)
        mt_cuda_ok(cuda.CtxGetCurrent(&context), "cuCtxGetCurrent");
    mt_check(context == NULL, "a call left its context behind");
    return NULL;
}

static void without_context(enum mt_kind kind)
{
    size_t nbytes = MOST * sizeof(double);
    double *data = mt_alloc(nbytes), want = mt.size;
    struct mt_buf buf;
    pthread_t thread;

    for (int i = 0; i < MOST; i++)
        data[i] = 1;
    mt_buf_create(&buf, kind, nbytes, 0);
    mt_buf_arm(&buf, nbytes, 0);
    mt_buf_write(&buf, 0, data, nbytes);
    if (pthread_create(&thread, NULL, bare, &buf))
        mt_die("cannot start a thread");
    pthread_join(thread, NULL);
    mt_buf_read(&buf, 0, data, nbytes);
    mt_check(data[7] == want * want * want * want && data[8] == want * want &&
                 data[MOST - 1] == want * want && mt_buf_guarded(&buf, nbytes),
             "a thread without a context: the result is wrong");
    mt_buf_destroy(&buf);
    free(data);
}

int main(int argc, char **argv)
{
    struct worker workers[NTHREADS];
    int gpu = mt_option(argc, argv, "gpu", NULL) != NULL;
    int calls = atoi(mt_option(argc, argv, "calls", "160"));

    mt_init_thread(MPI_THREAD_MULTIPLE);
    if (gpu)
        mt_cuda_open();
    for (int t = 0; t < NTHREADS; t++) {
        workers[t] =
            (struct worker){.number = t,
                            .calls = calls / NTHREADS,
                            .kind = gpu && t != 1 ? MT_DEVICE : MT_HOST};
        MPI_Comm_dup(MPI_COMM_WORLD, &workers[t].comm);
    }
    run(workers, NTHREADS, work);
    check(workers, "a communicator each");
    opposite(workers);
    for (int t = 0; t < NTHREADS; t++)
        workers[t].calls = calls / NTHREADS / 8;
    run(workers, NTHREADS, churn);
    check(workers, "communicators made and freed");
    without_context(gpu ? MT_DEVICE : MT_HOST);
    for (int t = 0; t < NTHREADS; t++)
        MPI_Comm_free(&workers[t].comm);
    return mt_finish();
}
