/* SPDX-License-Identifier: BSD-3-Clause */
/* traffic.c - counters outside the engine prove which algorithm ran.
 *
 * traffic --func=allreduce --algorithm=ring [--gpu]
 *
 * For each size one call is made and the UCX sends and their bytes are counted
 * on every rank, the collectives that reach MPI, and on the stand-in the bytes
 * that crossed between host and device. What they must be is worked out here
 * from the definition of the algorithm: bytes exactly, messages as a multiple
 * (large calls run in tiles, the same number on every rank). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define ES sizeof(double)
#define MAX_RANKS 64

struct load {
    long long msgs, bytes;
};

struct run {
    const char *func, *algorithm;
    int gpu, root;
    size_t n; /* elements */
};

/* p-1 steps with a block each: ring allgather; twice for the ring allreduce,
 * whose blocks are parts of the vector. */
static struct load ring_allreduce(int p, size_t n)
{
    long long bytes = 2LL * (p - 1) * (long long)(n * ES);

    return (struct load){2LL * (p - 1), bytes / p};
}

static struct load ring_allgather(int p, size_t n)
{
    return (struct load){p - 1, (long long)(p - 1) * (long long)(n * ES)};
}

static struct load bruck(int p, size_t n)
{
    int rounds = 0;

    while (1 << rounds < p)
        rounds++;
    return (struct load){rounds, (long long)(p - 1) * (long long)(n * ES)};
}

/* The ranks beyond a power of two send their vector to a neighbour and get the
 * result back: the first 2r ranks in pairs, even to odd. */
static struct load rdouble(int p, int rank, size_t n)
{
    int rounds = 0, extra;
    long long msgs;

    while (2 << rounds <= p)
        rounds++;
    extra = p - (1 << rounds);
    msgs = rounds;
    if (rank < 2 * extra)
        msgs = rank % 2 == 0 ? 1 : rounds + 1;
    return (struct load){msgs, msgs * (long long)(n * ES)};
}

/* Position v (the root is 0) has the children v + d * 4^j, d = 1..3, for every
 * j below the place of v's lowest digit that is not 0. */
static struct load knomial(int p, int v, size_t n)
{
    long long msgs = 0;

    for (int unit = 1; unit < p && v / unit % 4 == 0; unit *= 4)
        for (int d = 1; d < 4; d++)
            msgs += v + d * unit < p;
    return (struct load){msgs, msgs * (long long)(n * ES)};
}

static struct load chain(int p, int v, size_t n)
{
    long long msgs = v < p - 1;

    return (struct load){msgs, msgs * (long long)(n * ES)};
}

/* For one tile. */
static struct load expected(const struct run *run, int rank)
{
    int p = mt.size, v = (rank + p - run->root) % p;

    if (!strcmp(run->func, "bcast"))
        return !strcmp(run->algorithm, "chain") ? chain(p, v, run->n)
                                                : knomial(p, v, run->n);
    if (!strcmp(run->func, "allgather"))
        return !strcmp(run->algorithm, "ring") ? ring_allgather(p, run->n)
                                               : bruck(p, run->n);
    return !strcmp(run->algorithm, "ring") ? ring_allreduce(p, run->n)
                                           : rdouble(p, rank, run->n);
}

static int known(const struct run *run)
{
    static const char *const names[][2] = {
        {"allreduce", "ring"}, {"allreduce", "rdouble"},
        {"bcast", "chain"},    {"bcast", "knomial"},
        {"allgather", "ring"}, {"allgather", "bruck"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i][0], run->func) &&
            !strcmp(names[i][1], run->algorithm))
            return 1;
    return 0;
}

static int func_index(const char *func)
{
    if (!strcmp(func, "allreduce"))
        return MT_ALLREDUCE;
    return !strcmp(func, "bcast") ? MT_BCAST : MT_ALLGATHER;
}

static void call(const struct run *run, struct mt_buf *send,
                 struct mt_buf *recv)
{
    int n = (int)run->n, rc;

    if (!strcmp(run->func, "allreduce"))
        rc = MPI_Allreduce(send->ptr, recv->ptr, n, MPI_DOUBLE, MPI_SUM,
                           MPI_COMM_WORLD);
    else if (!strcmp(run->func, "bcast"))
        rc = MPI_Bcast(send->ptr, n, MPI_DOUBLE, run->root, MPI_COMM_WORLD);
    else
        rc = MPI_Allgather(send->ptr, n, MPI_DOUBLE, recv->ptr, n, MPI_DOUBLE,
                           MPI_COMM_WORLD);
    mt_check(rc == MPI_SUCCESS, "%s returned %d", run->func, rc);
}

/* On rank 0: what all ranks sent against what they should have sent. */
static void judge(const struct run *run, const long long (*sent)[2])
{
    long long tiles = 0, bytes = 0, want_bytes = 0;
    int ring =
        !strcmp(run->func, "allreduce") && !strcmp(run->algorithm, "ring");

    for (int r = 0; r < mt.size; r++) {
        struct load want = expected(run, r);
        long long slack, off = sent[r][1] - want.bytes;

        if (!tiles && want.msgs)
            tiles = sent[r][0] / want.msgs;
        mt_check(tiles > 0 || !want.msgs, "%s %s of %zu: rank %d sent nothing",
                 run->func, run->algorithm, run->n, r);
        mt_check(sent[r][0] == tiles * want.msgs,
                 "%s %s of %zu: rank %d sent %lld messages, not %lld times "
                 "%lld",
                 run->func, run->algorithm, run->n, r, sent[r][0], tiles,
                 want.msgs);
        /* A ring's blocks differ by an element where p does not divide a
         * tile; which rank gets the longer one is the algorithm's choice. */
        slack = ring && (tiles > 1 || run->n % (size_t)mt.size)
                    ? 2 * tiles * (long long)ES
                    : 0;
        mt_check(llabs(off) <= slack,
                 "%s %s of %zu: rank %d sent %lld bytes instead of %lld",
                 run->func, run->algorithm, run->n, r, sent[r][1], want.bytes);
        bytes += sent[r][1];
        want_bytes += want.bytes;
    }
    if (ring)
        want_bytes = 2LL * (mt.size - 1) * (long long)(run->n * ES);
    mt_check(bytes == want_bytes,
             "%s %s of %zu: %lld bytes sent by all ranks instead of %lld",
             run->func, run->algorithm, run->n, bytes, want_bytes);
    printf("mt: %s %s of %zu, root %d: %lld bytes, %lld tiles\n", run->func,
           run->algorithm, run->n, run->root, bytes, tiles);
}

/* Each byte crosses the bus once, and only where it must. */
static void judge_copies(const struct run *run, const struct mt_copies *a,
                         const struct mt_copies *b)
{
    unsigned long long d2h = b->d2h - a->d2h, h2d = b->h2d - a->h2d;
    unsigned long long nbytes = run->n * ES, d2d = b->d2d - a->d2d;
    unsigned long long want_d2h = nbytes, want_h2d = nbytes;

    if (!strcmp(run->func, "bcast")) {
        want_d2h = mt.rank == run->root ? nbytes : 0;
        want_h2d = mt.rank == run->root ? 0 : nbytes;
    } else if (!strcmp(run->func, "allgather")) {
        /* The own block may go from device to device. */
        want_h2d = (unsigned long long)mt.size * nbytes;
        h2d += d2d;
    }
    mt_check(d2h == want_d2h,
             "%s %s of %zu: %llu bytes device to host, not "
             "%llu",
             run->func, run->algorithm, run->n, d2h, want_d2h);
    mt_check(h2d == want_h2d,
             "%s %s of %zu: %llu bytes host to device, not "
             "%llu",
             run->func, run->algorithm, run->n, h2d, want_h2d);
}

static void measure(struct run *run, struct mt_buf *send, struct mt_buf *recv)
{
    struct mt_ucp_counts ucp[2];
    struct mt_mpi_counts mpi[2];
    struct mt_copies copies[2];
    long long mine[2], all[MAX_RANKS][2];
    int func = func_index(run->func);

    MPI_Barrier(MPI_COMM_WORLD);
    mt_counts_ucp(&ucp[0]);
    mt_counts_mpi(&mpi[0]);
    mt_sim_copies(&copies[0]);
    call(run, send, recv);
    mt_counts_ucp(&ucp[1]);
    mt_counts_mpi(&mpi[1]);
    mt_sim_copies(&copies[1]);
    mine[0] = (long long)(ucp[1].sends - ucp[0].sends);
    mine[1] = (long long)(ucp[1].bytes - ucp[0].bytes);
    mt_check(mpi[1].calls[func] == mpi[0].calls[func],
             "%s %s of %zu reached MPI", run->func, run->algorithm, run->n);
    if (run->gpu && mt_sim_present())
        judge_copies(run, &copies[0], &copies[1]);
    MPI_Gather(mine, 2, MPI_LONG_LONG, all, 2, MPI_LONG_LONG, 0,
               MPI_COMM_WORLD);
    if (mt.rank == 0)
        judge(run, (const long long(*)[2])all);
}

int main(int argc, char **argv)
{
    struct run run = {.func = mt_option(argc, argv, "func", ""),
                      .algorithm = mt_option(argc, argv, "algorithm", ""),
                      .gpu = mt_option(argc, argv, "gpu", NULL) != NULL};
    struct mt_buf send, recv;
    size_t sizes[6], p, most = 0;

    mt_init();
    if (!known(&run))
        mt_die("nothing is known of %s %s: say what it must send", run.func,
               run.algorithm);
    p = (size_t)mt.size;
    sizes[0] = p;
    sizes[1] = p * 1000;
    sizes[2] = p * 1000 + 1;
    sizes[3] = 65537;
    sizes[4] = p * 100000;
    sizes[5] = ((size_t)1 << 20) + 3;
    for (int i = 0; i < 6; i++)
        most = sizes[i] > most ? sizes[i] : most;
    mt_buf_create(&send, run.gpu ? MT_DEVICE : MT_HOST, most * ES, 0);
    mt_buf_create(&recv, run.gpu ? MT_DEVICE : MT_HOST, p * most * ES, 0);
    mt_buf_arm(&send, most * ES, 0);
    mt_buf_arm(&recv, p * most * ES, 0);
    for (int i = 0; i < 6; i++) {
        run.n = sizes[i];
        run.root = strcmp(run.func, "bcast") ? 0 : i % mt.size;
        call(&run, &send, &recv); /* connections, plans, scratch */
        measure(&run, &send, &recv);
    }
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
    return mt_finish();
}
