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

enum func { ALLREDUCE, BCAST, ALLGATHER, REDUCE, SENDRECV, NFUNCS };
static const char *const func_names[] = {"allreduce", "bcast", "allgather",
                                         "reduce", "sendrecv"};
static int engaged;
static const int sizes[] = {8, 1024, 4096};

static int call(enum func func, const struct area *area, int nbytes,
                MPI_Comm comm, int size)
{
    static int turn;

    if (func == ALLREDUCE)
        return MPI_Allreduce(area->send, area->recv, nbytes / 8, MPI_DOUBLE,
                             MPI_SUM, comm);
    if (func == BCAST)
        return MPI_Bcast(area->send, nbytes / 8, MPI_DOUBLE, 0, comm);
    if (func == REDUCE) /* the root turns, so that no rank runs ahead */
        return MPI_Reduce(area->send, area->recv, nbytes / 8, MPI_DOUBLE,
                          MPI_SUM, turn++ % size, comm);
    if (func == SENDRECV)
        return MPI_Sendrecv(area->send, nbytes / 8, MPI_DOUBLE,
                            size > 1 ? !mt.rank : 0, 0, area->recv, nbytes / 8,
                            MPI_DOUBLE, size > 1 ? !mt.rank : 0, 0, comm,
                            MPI_STATUS_IGNORE);
    /* the threshold is of all blocks together */
    return MPI_Allgather(area->send, nbytes / 8 / size, MPI_DOUBLE, area->recv,
                         nbytes / 8 / size, MPI_DOUBLE, comm);
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
 * have put the memory, else once a buffer. */
static void count_questions(enum func func, const struct area *area,
                            MPI_Comm comm, int size)
{
    uint64_t before = mt_sim_calls("cuPointerGetAttributes"), most = 0;
    uint64_t least = 0;

    if (strcmp(area->name, "mapped") == 0)
        most = func == BCAST ? 10 : 20;
    if (engaged)
        least = func == REDUCE ? most / 2 : most; /* the counter is alive */
    for (int i = 0; i < 10; i++)
        call(func, area, 8 * size, comm, size);
    before = mt_sim_calls("cuPointerGetAttributes") - before;
    mt_check(before <= most && before >= least,
             "%s, %s: %lu questions to the driver in ten calls",
             func_names[func], area->name, (unsigned long)before);
}

static void measure(enum func func, const struct area *area, int nbytes,
                    MPI_Comm comm, const char *where, int nbatches)
{
    double *ns = mt_alloc((size_t)nbatches * sizeof *ns), start;
    double *out = (double *)(void *)area->recv;
    int size, bad = 0;

    MPI_Comm_size(comm, &size);
    if (nbytes / 8 < size && func == ALLGATHER)
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
    mt_check(!bad && (func != ALLREDUCE || *out == size) &&
                 (func != ALLGATHER || *out == 1),
             "%s.%d.%s: wrong", func_names[func], nbytes, area->name);
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
                if (i > 0 && k > 0) /* one size will do */
                    continue;
                measure((enum func)func, &areas[i], sizes[k], MPI_COMM_WORLD,
                        "world", nbatches);
                measure((enum func)func, &areas[i], sizes[k], MPI_COMM_SELF,
                        "self", nbatches);
            }
    return mt_finish();
}
