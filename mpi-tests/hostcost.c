/* SPDX-License-Identifier: BSD-3-Clause */
/* hostcost.c - what small collectives on host buffers cost in a job that uses
 * GPUs: CUDA is started and, under Coax, the communicators have run a device
 * collective. hostcost.sh compares launches with and without Coax.
 *
 * hostcost [--engage] [--batches=N]
 *
 * Rank 0 prints "CASE nanoseconds" a line: the 20th percentile of the batches,
 * which is below what other processes on the machine do to them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define CALLS 20 /* a batch: far shorter than a time slice */
#define MOST 8192
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

struct area {
    const char *name;
    unsigned char *send, *recv;
};

enum func {
    ALLREDUCE,
    BCAST,
    ALLGATHER,
    REDUCE,
    SENDRECV,
    GATHER, /* from here on, one size */
    SCATTER,
    ALLTOALL,
    REDUCE_SCATTER,
    NFUNCS
};
static const char *const func_names[] = {
    "allreduce", "bcast",   "allgather", "reduce",        "sendrecv",
    "gather",    "scatter", "alltoall",  "reduce_scatter"};
static int engaged;
static const int sizes[] = {8, 1024, 4096};

/* The root turns, so that no rank runs ahead. */
static int call(enum func func, const struct area *area, int nbytes,
                MPI_Comm comm, int size)
{
    static int turn;
    unsigned char *send = area->send, *recv = area->recv;
    int n = nbytes / 8, other = size > 1 ? !mt.rank : 0;
    int each = n / size; /* the threshold is of all blocks together */

    switch (func) {
    case ALLREDUCE:
        return MPI_Allreduce(send, recv, n, MPI_DOUBLE, MPI_SUM, comm);
    case BCAST:
        return MPI_Bcast(send, n, MPI_DOUBLE, 0, comm);
    case ALLGATHER:
        return MPI_Allgather(send, each, MPI_DOUBLE, recv, each, MPI_DOUBLE,
                             comm);
    case REDUCE:
        return MPI_Reduce(send, recv, n, MPI_DOUBLE, MPI_SUM, turn++ % size,
                          comm);
    case SENDRECV:
        return MPI_Sendrecv(send, n, MPI_DOUBLE, other, 0, recv, n, MPI_DOUBLE,
                            other, 0, comm, MPI_STATUS_IGNORE);
    case GATHER:
        return MPI_Gather(send, each, MPI_DOUBLE, recv, each, MPI_DOUBLE,
                          turn++ % size, comm);
    case SCATTER:
        return MPI_Scatter(send, each, MPI_DOUBLE, recv, each, MPI_DOUBLE,
                           turn++ % size, comm);
    case ALLTOALL:
        return MPI_Alltoall(send, each, MPI_DOUBLE, recv, each, MPI_DOUBLE,
                            comm);
    default:
        return MPI_Reduce_scatter_block(send, recv, each, MPI_DOUBLE, MPI_SUM,
                                        comm);
    }
}

/* Are there blocks, so that there must be an element for each rank? */
static int has_blocks(enum func func)
{
    return func == ALLGATHER || func >= GATHER;
}

/* What stands in the first element received: all elements sent are 1. */
static double expected(enum func func, int size)
{
    return func == ALLREDUCE || func == REDUCE || func == REDUCE_SCATTER ? size
           : func == BCAST                                               ? 0
                                                                         : 1;
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* How often the driver is asked in ten calls: never where only the kernel can
 * have put the memory, else once for each buffer that MPI looks at, of which
 * there is one less on those ranks that are not the root. */
static void count_questions(enum func func, const struct area *area,
                            MPI_Comm comm, int size)
{
    uint64_t before = mt_sim_calls("cuPointerGetAttributes"), due = 20;
    int rooted = func == REDUCE || func == GATHER || func == SCATTER;

    if (!engaged || strcmp(area->name, "mapped") != 0)
        due = 0;
    else if (func == BCAST)
        due = 10;
    else if (rooted && size > 1)
        due = 10 + 10 / (uint64_t)size;
    for (int i = 0; i < 10; i++)
        call(func, area, 8 * size, comm, size);
    before = mt_sim_calls("cuPointerGetAttributes") - before;
    mt_check(before == due,
             "%s, %s: %lu questions to the driver in ten calls, not %lu",
             func_names[func], area->name, (unsigned long)before,
             (unsigned long)due);
}

static void measure(enum func func, const struct area *area, int nbytes,
                    MPI_Comm comm, const char *where, int nbatches)
{
    double *ns = mt_alloc((size_t)nbatches * sizeof *ns), start;
    double *out = (double *)(void *)area->recv;
    int size, bad = 0;

    MPI_Comm_size(comm, &size);
    memset(out, 0, sizeof *out);
    if (nbytes / 8 < size && has_blocks(func))
        nbytes = 8 * size;
    for (int i = 0; i < 50; i++)
        bad |= call(func, area, nbytes, comm, size);
    count_questions(func, area, comm, size);
    for (int k = 0; k < nbatches; k++) {
        MPI_Barrier(comm);
        start = now_ns();
        for (int i = 0; i < CALLS; i++)
            bad |= call(func, area, nbytes, comm, size);
        ns[k] = (now_ns() - start) / CALLS;
    }
    qsort(ns, (size_t)nbatches, sizeof *ns, ascending);
    if (mt.rank == 0)
        printf("%s.%d.%s.%s %.1f\n", func_names[func], nbytes, area->name,
               where, ns[nbatches / 5]);
    free(ns);
    mt_check(!bad && *out == expected(func, size), "%s.%d.%s: wrong",
             func_names[func], nbytes, area->name);
}

/* One collective of GPU memory on each communicator, far above the
 * threshold. */
static void engage(void)
{
    MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    size_t nbytes = 256 << 10;
    struct mt_buf buf;

    mt_buf_create(&buf, MT_DEVICE, nbytes, 0);
    mt_buf_arm(&buf, nbytes, 0);
    for (int i = 0; i < COUNT(comms); i++)
        MPI_Allreduce(MPI_IN_PLACE, buf.ptr, (int)(nbytes / 8), MPI_DOUBLE,
                      MPI_SUM, comms[i]);
    mt_check(mt_buf_guarded(&buf, nbytes), "guard bytes are gone");
    mt_buf_destroy(&buf);
}

/* CUDA in use, with or without Coax. */
static void start_cuda(void)
{
    struct mt_buf buf;

    mt_cuda_open();
    mt_buf_create(&buf, MT_DEVICE, MOST, 0);
    mt_buf_arm(&buf, MOST, 0);
    mt_buf_destroy(&buf);
}

int main(int argc, char **argv)
{
    static unsigned char fixed[2][MOST];
    unsigned char local[2][MOST];
    double one = 1;
    int nbatches = atoi(mt_option(argc, argv, "batches", "120"));
    struct area areas[4];
    unsigned char *mapped;

    mt_init();
    start_cuda();
    engaged = mt_option(argc, argv, "engage", NULL) != NULL;
    if (engaged)
        engage();
    mapped = mmap(NULL, 2 * MOST, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    areas[0] = (struct area){"stack", local[0], local[1]};
    areas[1] = (struct area){"heap", mt_alloc(MOST), mt_alloc(MOST)};
    areas[2] = (struct area){"static", fixed[0], fixed[1]};
    areas[3] = (struct area){"mapped", mapped, mapped + MOST};
    for (int i = 0; i < COUNT(areas); i++)
        for (size_t k = 0; k < MOST / sizeof one; k++)
            memcpy(areas[i].send + k * sizeof one, &one, sizeof one);
    for (int func = 0; func < NFUNCS; func++)
        for (int i = 0; i < COUNT(areas); i++)
            for (int k = 0; k < COUNT(sizes); k++) {
                if ((i > 0 || func >= GATHER) && k > 0) /* one will do */
                    continue;
                measure((enum func)func, &areas[i], sizes[k], MPI_COMM_WORLD,
                        "world", nbatches);
                measure((enum func)func, &areas[i], sizes[k], MPI_COMM_SELF,
                        "self", nbatches);
            }
    return mt_finish();
}
