/* SPDX-License-Identifier: BSD-3-Clause */
/* types.c - Bcast and Allgather between ranks whose types differ and whose
 * signatures are equal, on host and device; bytes between the elements stay.
 *
 * types [--gpu] [--units=N,N...] [--small=BYTES]
 *   --units  of 12 ints, in a call
 *   --small  calls of at most so many bytes must reach MPI, others must not */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "layout.h"
#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

/* A user's buffer: the address that MPI gets lies `zero` bytes into it. */
struct area {
    struct mt_buf buf;
    size_t zero, nbytes;
    unsigned char *image; /* what it must look like */
};

static size_t nunits = 1, small;

static uint64_t reached_mpi(int func)
{
    struct mt_mpi_counts counts;

    if (!small)
        return 0;
    mt_counts_mpi(&counts);
    return counts.calls[func];
}

static void check_way(int func, size_t nbytes, uint64_t before)
{
    uint64_t calls = reached_mpi(func) - before;

    if (small)
        mt_check(calls == (nbytes <= small),
                 "%zu bytes, small is %zu: %d calls reached MPI", nbytes, small,
                 (int)calls);
}

static int value(int rank, size_t k)
{
    return (int)(uint32_t)mt_hash((uint64_t)rank, k);
}

static void area_open(struct area *a, int which, size_t units,
                      enum mt_kind kind)
{
    size_t reach = layout_reach(which, units);

    a->zero = reach / 8 * 8;
    a->nbytes = a->zero + reach;
    a->image = mt_alloc(a->nbytes);
    for (size_t i = 0; i < a->nbytes; i++)
        a->image[i] = (unsigned char)(i * 7 + 3);
    mt_buf_create(&a->buf, kind, a->nbytes, 0);
    mt_buf_arm(&a->buf, a->nbytes, 0);
}

static void area_close(struct area *a)
{
    mt_buf_destroy(&a->buf);
    free(a->image);
}

static void *area_addr(const struct area *a)
{
    return a->buf.ptr + a->zero;
}

/* Puts rank's data into ints [first, first + n) of the image. */
static void area_expect(struct area *a, int which, size_t first, size_t n,
                        int rank)
{
    for (size_t k = 0; k < n; k++) {
        int v = value(rank, k);
        ptrdiff_t at = layout_offset(which, first + k);

        memcpy(a->image + a->zero + at, &v, sizeof v);
    }
}

static void area_load(struct area *a)
{
    mt_buf_write(&a->buf, 0, a->image, a->nbytes);
}

static void area_check(const struct area *a, const char *what, int mine,
                       int theirs)
{
    long long at = mt_buf_differs(&a->buf, 0, a->image, a->nbytes);

    mt_check(at < 0, "%s, %s against %s, %zu units: byte %lld is wrong", what,
             layout_name(mine), layout_name(theirs), nunits,
             at - (long long)a->zero);
    mt_check(mt_buf_guarded(&a->buf, a->nbytes), "%s, %s: guard bytes are gone",
             what, layout_name(mine));
}

static void bcast_case(int root_layout, int other_layout, int root,
                       enum mt_kind kind)
{
    int which = mt.rank == root ? root_layout : other_layout, count;
    size_t n = nunits * LAYOUT_INTS;
    MPI_Datatype type;
    uint64_t before = reached_mpi(MT_BCAST);
    struct area a;

    layout_make(which, &type, &count);
    area_open(&a, which, nunits, kind);
    if (mt.rank == root)
        area_expect(&a, which, 0, n, root);
    area_load(&a);
    mt_check(MPI_Bcast(area_addr(&a), count * (int)nunits, type, root,
                       MPI_COMM_WORLD) == MPI_SUCCESS,
             "bcast returned an error");
    check_way(MT_BCAST, n * sizeof(int), before);
    area_expect(&a, which, 0, n, root);
    area_check(&a, "bcast", which,
               mt.rank == root ? other_layout : root_layout);
    area_close(&a);
    layout_free(&type);
}

static void allgather_case(int send_layout, int recv_layout, int in_place,
                           enum mt_kind kind)
{
    size_t n = nunits * LAYOUT_INTS;
    int scount, rcount, rc;
    MPI_Datatype stype, rtype;
    uint64_t before = reached_mpi(MT_ALLGATHER);
    struct area send, recv;

    layout_make(send_layout, &stype, &scount);
    layout_make(recv_layout, &rtype, &rcount);
    area_open(&send, send_layout, nunits, kind);
    area_open(&recv, recv_layout, nunits * (size_t)mt.size, kind);
    area_expect(&send, send_layout, 0, n, mt.rank);
    area_load(&send);
    if (in_place)
        area_expect(&recv, recv_layout, n * (size_t)mt.rank, n, mt.rank);
    area_load(&recv);
    rc = MPI_Allgather(in_place ? MPI_IN_PLACE : area_addr(&send),
                       in_place ? -1 : scount * (int)nunits,
                       in_place ? MPI_DATATYPE_NULL : stype, area_addr(&recv),
                       rcount * (int)nunits, rtype, MPI_COMM_WORLD);
    mt_check(rc == MPI_SUCCESS, "allgather returned an error");
    check_way(MT_ALLGATHER, n * (size_t)mt.size * sizeof(int), before);
    for (int r = 0; r < mt.size; r++)
        area_expect(&recv, recv_layout, n * (size_t)r, n, r);
    area_check(&recv, in_place ? "allgather in place" : "allgather",
               recv_layout, send_layout);
    area_check(&send, "allgather's send buffer", send_layout, recv_layout);
    area_close(&send);
    area_close(&recv);
    layout_free(&stype);
    layout_free(&rtype);
}

/* --- holes that somebody else writes meanwhile ---------------------------- */

struct writer {
    int *ints;        /* the hole ints, in place */
    const size_t *at; /* their indices */
    size_t n;
    _Atomic int stop;
    long rounds, lost;
};

static void *write_holes(void *arg)
{
    struct writer *w = arg;
    volatile int *ints = w->ints;

    for (int v = 1; !atomic_load(&w->stop); v++, w->rounds++)
        for (size_t i = 0; i < w->n; i++) {
            w->lost += v > 1 && ints[w->at[i]] != v - 1;
            ints[w->at[i]] = v;
        }
    return NULL;
}

/* Indices of the ints of [0, total) that the layout does not describe. */
static size_t find_holes(int which, size_t units, size_t total, size_t *out)
{
    unsigned char *used = mt_alloc(total);
    size_t n = 0;

    memset(used, 0, total);
    for (size_t k = 0; k < units * LAYOUT_INTS; k++)
        used[layout_offset(which, k) / (ptrdiff_t)sizeof(int)] = 1;
    for (size_t i = 0; i < total; i++)
        if (!used[i])
            out[n++] = i;
    free(used);
    return n;
}

/* A thread keeps changing the ints between the elements; nothing that it wrote
 * may be taken back. Layout: the vector. */
static void busy_holes(int calls)
{
    const int which = 4;
    size_t units = 2000, total = layout_reach(which, units) / sizeof(int);
    size_t *at = mt_alloc(total * sizeof *at);
    struct writer w = {.ints = mt_alloc(total * sizeof(int)), .at = at};
    MPI_Datatype type;
    pthread_t thread;
    int count;

    w.n = find_holes(which, units, total, at);
    layout_make(which, &type, &count);
    pthread_create(&thread, NULL, write_holes, &w);
    for (int i = 0; i < calls; i++) {
        int root = i % mt.size, bad = 0;

        for (size_t k = 0; k < units * LAYOUT_INTS; k++)
            w.ints[layout_offset(which, k) / 4] =
                mt.rank == root ? value(i, k) : -1;
        MPI_Bcast(w.ints, count * (int)units, type, root, MPI_COMM_WORLD);
        for (size_t k = 0; k < units * LAYOUT_INTS; k++)
            bad += w.ints[layout_offset(which, k) / 4] != value(i, k);
        mt_check(!bad, "bcast %d beside a writing thread: %d wrong", i, bad);
    }
    atomic_store(&w.stop, 1);
    pthread_join(thread, NULL);
    mt_check(w.lost == 0, "%ld values between the elements were overwritten",
             w.lost);
    mt_check(w.rounds > 0, "the writing thread never ran");
    layout_free(&type);
    free(w.ints);
    free(at);
}

/* A column of a matrix on the device: the number of copies between host and
 * device must not grow with the number of its elements. */
static void few_copies(void)
{
    const int rows = 20000;
    struct mt_copies before, after;
    struct mt_buf buf;
    MPI_Datatype column;
    unsigned long long copies;

    MPI_Type_vector(rows, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    mt_buf_create(&buf, MT_DEVICE, (size_t)rows * 16, 0);
    mt_buf_arm(&buf, (size_t)rows * 16, 0);
    mt_sim_copies(&before);
    MPI_Bcast(buf.ptr, 1, column, 0, MPI_COMM_WORLD);
    mt_sim_copies(&after);
    copies = after.d2h_copies + after.h2d_copies - before.d2h_copies -
             before.h2d_copies;
    mt_check(copies <= 8, "%llu copies for a column of %d elements", copies,
             rows);
    mt_buf_destroy(&buf);
    MPI_Type_free(&column);
}

static enum mt_kind kind_of(int memory)
{
    if (memory == 0)
        return MT_HOST;
    if (memory == 1)
        return MT_DEVICE;
    return (mt.rank + memory) % 2 ? MT_DEVICE : MT_HOST;
}

static void every_pair(int memories)
{
    int turn = 0;

    for (int memory = 0; memory < memories; memory++)
        for (int a = 0; a < LAYOUT_N; a++)
            for (int b = 0; b < LAYOUT_N; b++) {
                bcast_case(a, b, turn++ % mt.size, kind_of(memory));
                allgather_case(a, b, (a + b) % 3 == 0, kind_of(memory));
            }
}

int main(int argc, char **argv)
{
    int memories = mt_option(argc, argv, "gpu", NULL) ? 4 : 1;
    const char *units = mt_option(argc, argv, "units", "1");

    mt_init_thread(MPI_THREAD_FUNNELED);
    if (memories > 1)
        mt_cuda_open(); /* now: the host cases are the engine's too */
    small = strtoul(mt_option(argc, argv, "small", "0"), NULL, 10);
    for (char *end; *units; units = *end == ',' ? end + 1 : end) {
        nunits = strtoul(units, &end, 10);
        every_pair(memories);
    }
    if (memories > 1)
        few_copies();
    busy_holes(60);
    return mt_finish();
}
