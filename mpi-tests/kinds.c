/* SPDX-License-Identifier: BSD-3-Clause */
/* kinds.c - every mix of memory kinds in one call: host, pinned, managed and
 * device, differing between send and receive buffer and between ranks; and what
 * the caller sees of CUDA afterwards: the same device and context, or none.
 *
 * kinds [--same]; on the simulated GPU, with at least two devices.
 *   --same  the same kinds on all ranks, as COAX_SCOPE=device wants it */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define MOST 5000
#define NKINDS 4

static int ndevices, same;

/* The state that a call must leave as it was. */
struct seen {
    int device;
    void *ctx;
};

static void look(struct seen *seen)
{
    mt_cuda_ok(cuda.CtxGetCurrent(&seen->ctx), "cuCtxGetCurrent");
    seen->device = -1;
    if (seen->ctx) /* cudaGetDevice alone makes no context either, but may */
        mt_cuda_ok(cuda.GetDevice(&seen->device), "cudaGetDevice");
}

static void check_seen(const struct seen *before, const char *what)
{
    struct seen now;

    look(&now);
    mt_check(now.ctx == before->ctx, "%s changed the current context", what);
    mt_check(now.device == before->device,
             "%s changed the current device from %d to %d", what,
             before->device, now.device);
}

static double value(int rank, int i)
{
    return rank * 777 + i;
}

/* The three functions, and the state after each. */
static void exercise(struct mt_buf *send, struct mt_buf *recv, int n)
{
    size_t nbytes = (size_t)n * sizeof(double);
    double mine[MOST], sum[MOST], block[MOST];
    struct seen before;

    look(&before);
    for (int i = 0; i < n; i++) {
        mine[i] = value(mt.rank, i);
        sum[i] = 777.0 * (mt.size * (mt.size - 1) / 2) + (double)mt.size * i;
    }
    mt_buf_arm(send, nbytes, 0);
    mt_buf_arm(recv, nbytes * (size_t)mt.size, 0);
    mt_buf_write(send, 0, mine, nbytes);
    MPI_Allreduce(send->ptr, recv->ptr, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_seen(&before, "allreduce");
    mt_check(mt_buf_differs(recv, 0, sum, nbytes) < 0,
             "allreduce of %d, kinds %d and %d", n, (int)send->kind,
             (int)recv->kind);
    MPI_Allgather(send->ptr, n, MPI_DOUBLE, recv->ptr, n, MPI_DOUBLE,
                  MPI_COMM_WORLD);
    check_seen(&before, "allgather");
    for (int r = 0; r < mt.size; r++) {
        for (int i = 0; i < n; i++)
            block[i] = value(r, i);
        mt_check(mt_buf_differs(recv, (size_t)r * nbytes, block, nbytes) < 0,
                 "allgather of %d, kinds %d and %d, block %d", n,
                 (int)send->kind, (int)recv->kind, r);
    }
    MPI_Bcast(send->ptr, n, MPI_DOUBLE, mt.size - 1, MPI_COMM_WORLD);
    check_seen(&before, "bcast");
    mt_check(mt_buf_differs(send, 0, block, nbytes) < 0, "bcast of %d, kind %d",
             n, (int)send->kind);
    mt_check(mt_buf_guarded(send, nbytes) &&
                 mt_buf_guarded(recv, nbytes * (size_t)mt.size),
             "guard bytes are gone");
}

static void mixes(void)
{
    struct mt_buf send[NKINDS], recv[NKINDS];
    size_t nbytes = MOST * sizeof(double);

    for (int k = 0; k < NKINDS; k++) {
        mt_buf_create(&send[k], k, nbytes, 0);
        mt_buf_create(&recv[k], k, nbytes * (size_t)mt.size, 24);
    }
    for (int mix = 0; mix < NKINDS * NKINDS; mix++) {
        int s = (mix + mt.rank) % NKINDS;
        int r = (mix / NKINDS + 3 * mt.rank) % NKINDS;

        if (same) {
            s = mix % NKINDS;
            r = mix / NKINDS;
        }
        exercise(&send[s], &recv[r], 3);
        exercise(&send[s], &recv[r], MOST);
    }
    for (int k = 0; k < NKINDS; k++) {
        mt_buf_destroy(&send[k]);
        mt_buf_destroy(&recv[k]);
    }
}

/* Buffers on other devices than the current one, and on two of them. */
static void devices(void)
{
    struct mt_buf send, recv;
    int other = ndevices - 1 - mt.rank % 2;

    mt_cuda_ok(cuda.SetDevice(other), "cudaSetDevice");
    mt_buf_create(&send, MT_DEVICE, MOST * sizeof(double), 0);
    mt_cuda_ok(cuda.SetDevice(0), "cudaSetDevice");
    mt_buf_create(&recv, MT_DEVICE, MOST * sizeof(double) * (size_t)mt.size, 0);
    exercise(&send, &recv, 4);
    exercise(&send, &recv, MOST);
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

/* Copies to the device in a thread of its own, so that the main thread never
 * gets a context. */
struct errand {
    struct mt_buf *buf;
    const void *data;
    size_t nbytes;
    int check;
    long long differs;
};

static void *run_errand(void *arg)
{
    struct errand *e = arg;

    if (!e->buf->alloc)
        mt_buf_create(e->buf, MT_DEVICE, e->nbytes, 0);
    if (e->check) {
        e->differs = mt_buf_differs(e->buf, 0, e->data, e->nbytes);
        return NULL;
    }
    mt_buf_arm(e->buf, e->nbytes, 0);
    mt_buf_write(e->buf, 0, e->data, e->nbytes);
    return NULL;
}

static void in_thread(struct errand *e)
{
    pthread_t thread;

    pthread_create(&thread, NULL, run_errand, e);
    pthread_join(thread, NULL);
}

/* The calling thread has no context, before and after. */
static void no_context(int n)
{
    double mine[MOST], sum[MOST];
    struct mt_buf buf = {0};
    struct errand e = {
        .buf = &buf, .data = mine, .nbytes = (size_t)n * sizeof(double)};
    struct seen before;

    for (int i = 0; i < n; i++) {
        mine[i] = value(mt.rank, i);
        sum[i] = 777.0 * (mt.size * (mt.size - 1) / 2) + (double)mt.size * i;
    }
    in_thread(&e);
    mt_cuda_ok(cuda.CtxSetCurrent(NULL), "cuCtxSetCurrent");
    look(&before);
    mt_check(before.ctx == NULL, "the thread has a context already");
    MPI_Allreduce(MPI_IN_PLACE, buf.ptr, n, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    check_seen(&before, "allreduce without a context");
    e.data = sum;
    e.check = 1;
    in_thread(&e);
    mt_check(e.differs < 0, "allreduce of %d without a context is wrong", n);
    MPI_Bcast(buf.ptr, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    check_seen(&before, "bcast without a context");
    mt_cuda_ok(cuda.SetDevice(0), "cudaSetDevice");
    mt_buf_destroy(&buf);
}

int main(int argc, char **argv)
{
    uint64_t contexts;

    same = mt_option(argc, argv, "same", NULL) != NULL;
    mt_init_thread(MPI_THREAD_FUNNELED);
    mt_cuda_open();
    no_context(6);
    no_context(MOST);
    mixes();
    if (mt_sim_present())
        mt_check(mt_sim_contexts() == 1,
                 "%llu contexts were made on devices of which the program uses "
                 "one",
                 (unsigned long long)mt_sim_contexts());
    mt_cuda_ok(cuda.GetDeviceCount(&ndevices), "cudaGetDeviceCount");
    if (ndevices > 1)
        devices();
    else
        mt_check(!mt_sim_present(), "simulate at least two devices");
    contexts = mt_sim_contexts();
    mt_check(!mt_sim_present() || contexts <= (uint64_t)ndevices,
             "%llu contexts on %d devices", (unsigned long long)contexts,
             ndevices);
    return mt_finish();
}
