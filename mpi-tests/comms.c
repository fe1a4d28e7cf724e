/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.c - the three functions on every sort of communicator: one rank, parts,
 * reversed, duplicates, freed and made again, intercommunicators, leaked.
 *
 * comms [--gpu] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"

#define MOST 3000

static int memory;

static enum mt_kind kind(void)
{
    if (memory == 0)
        return MT_HOST;
    if (memory == 1)
        return MT_DEVICE;
    return mt.rank == 1 ? MT_DEVICE : MT_HOST;
}

static double value(int rank, int i)
{
    return rank * 1000 + i;
}

/* The world rank behind each rank of `comm`. */
static void members(MPI_Comm comm, int size, int *world)
{
    MPI_Group mine, all;
    int ranks[64];

    for (int i = 0; i < size; i++)
        ranks[i] = i;
    MPI_Comm_group(comm, &mine);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(mine, size, ranks, all, world);
    MPI_Group_free(&mine);
    MPI_Group_free(&all);
}

static void check_sum(const struct mt_buf *buf, const int *world, int size,
                      int n, const char *what)
{
    double want[MOST];

    for (int i = 0; i < n; i++) {
        want[i] = 0;
        for (int r = 0; r < size; r++)
            want[i] += value(world[r], i);
    }
    mt_check(mt_buf_differs(buf, 0, want, (size_t)n * sizeof(double)) < 0,
             "%s: the sum of %d over %d ranks is wrong", what, n, size);
}

static void check_blocks(const struct mt_buf *buf, const int *world, int size,
                         int n, const char *what)
{
    double want[MOST];

    for (int r = 0; r < size; r++) {
        for (int i = 0; i < n; i++)
            want[i] = value(world[r], i);
        mt_check(mt_buf_differs(buf, (size_t)(r * n) * sizeof(double), want,
                                (size_t)n * sizeof(double)) < 0,
                 "%s: block %d of %d elements is wrong", what, r, n);
    }
}

/* All three functions once, `n` elements, checked against the members. */
static void exercise(MPI_Comm comm, int n, const char *what)
{
    int size, rank, world[64], root;
    size_t nbytes = (size_t)n * sizeof(double);
    struct mt_buf send, recv;
    double mine[MOST], theirs[MOST];

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    members(comm, size, world);
    root = n % size;
    for (int i = 0; i < n; i++) {
        mine[i] = value(mt.rank, i);
        theirs[i] = value(world[root], i);
    }
    mt_buf_create(&send, kind(), nbytes, 0);
    mt_buf_create(&recv, kind(), nbytes * (size_t)size, 8);
    mt_buf_arm(&send, nbytes, 0);
    mt_buf_arm(&recv, nbytes * (size_t)size, 0);
    mt_buf_write(&send, 0, mine, nbytes);
    MPI_Allreduce(send.ptr, recv.ptr, n, MPI_DOUBLE, MPI_SUM, comm);
    check_sum(&recv, world, size, n, what);
    MPI_Allgather(send.ptr, n, MPI_DOUBLE, recv.ptr, n, MPI_DOUBLE, comm);
    check_blocks(&recv, world, size, n, what);
    mt_buf_arm(&recv, nbytes * (size_t)size, 0);
    mt_buf_write(&recv, (size_t)rank * nbytes, mine, nbytes);
    MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, recv.ptr, n, MPI_DOUBLE,
                  comm);
    check_blocks(&recv, world, size, n, what);
    mt_check(mt_buf_guarded(&recv, nbytes * (size_t)size),
             "%s: guard bytes are gone", what);
    mt_buf_write(&recv, 0, mine, nbytes);
    MPI_Allreduce(MPI_IN_PLACE, recv.ptr, n, MPI_DOUBLE, MPI_SUM, comm);
    check_sum(&recv, world, size, n, what);
    MPI_Bcast(send.ptr, n, MPI_DOUBLE, root, comm);
    mt_check(mt_buf_differs(&send, 0, theirs, nbytes) < 0,
             "%s: the broadcast of %d from %d is wrong", what, n, root);
    mt_check(mt_buf_guarded(&send, nbytes), "%s: guard bytes are gone", what);
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

/* What PETSc does to find out about GPUs: neighbouring ints of one buffer. */
static void petsc_probe(void)
{
    int two[2] = {7, 0}, want[2] = {7, 7};
    struct mt_buf buf;

    mt_buf_create(&buf, kind(), sizeof two, 0);
    mt_buf_arm(&buf, sizeof two, 0);
    mt_buf_write(&buf, 0, two, sizeof two);
    mt_check(MPI_Allreduce(buf.ptr, buf.ptr + sizeof(int), 1, MPI_INT, MPI_SUM,
                           MPI_COMM_SELF) == MPI_SUCCESS,
             "PETSc's probe returned an error");
    mt_check(mt_buf_differs(&buf, 0, want, sizeof want) < 0,
             "PETSc's probe got a wrong sum");
    mt_check(mt_buf_guarded(&buf, sizeof two), "guard bytes are gone");
    mt_buf_destroy(&buf);
}

static void one_rank(void)
{
    MPI_Comm alone;

    petsc_probe();
    exercise(MPI_COMM_SELF, 1, "COMM_SELF");
    exercise(MPI_COMM_SELF, MOST, "COMM_SELF");
    MPI_Comm_split(MPI_COMM_WORLD, mt.rank, 0, &alone);
    exercise(alone, 5, "a split of one rank");
    exercise(alone, MOST, "a split of one rank");
    MPI_Comm_free(&alone);
}

static void nothing(MPI_Comm comm)
{
    MPI_Datatype empty, pair;

    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&empty);
    MPI_Type_commit(&pair);
    mt_check(!MPI_Allreduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, comm) &&
                 !MPI_Allreduce(MPI_IN_PLACE, NULL, 0, MPI_INT, MPI_MAX, comm),
             "allreduce of nothing");
    mt_check(!MPI_Bcast(NULL, 0, MPI_INT, 0, comm) &&
                 !MPI_Bcast(NULL, 0, pair, 0, comm),
             "bcast of nothing");
    mt_check(!MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, pair, comm) &&
                 !MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, NULL, 0,
                                MPI_INT, comm),
             "allgather of nothing");
    mt_check(!MPI_Bcast(&empty, 3, empty, 0, comm), "bcast of an empty type");
    MPI_Type_free(&empty);
    MPI_Type_free(&pair);
}

static void parts(void)
{
    MPI_Comm half, back, dup, upper = MPI_COMM_NULL;
    MPI_Group all, part;
    int first[1][3] = {{1, mt.size - 1, 1}};

    MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, mt.rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -mt.rank, &back);
    MPI_Comm_dup(back, &dup);
    for (int n = 1; n < MOST; n = n * 13 + 4) {
        exercise(half, n, "every second rank");
        exercise(back, n, "the ranks backwards");
        exercise(dup, n, "a duplicate");
    }
    nothing(half);
    MPI_Comm_free(&back);
    exercise(dup, 700, "the duplicate of a freed communicator");
    MPI_Comm_free(&half);
    MPI_Comm_free(&dup);
    if (mt.size < 2)
        return;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, first, &part);
    MPI_Group_free(&all);
    if (mt.rank > 0) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 3, &upper);
        exercise(upper, 900, "all but rank 0");
        MPI_Comm_free(&upper);
    }
    MPI_Group_free(&part);
}

/* MPI gives a new communicator the handle of a freed one: nothing may be kept
 * by handle. */
static void made_again(void)
{
    MPI_Comm last = MPI_COMM_NULL;
    int reused = 0;

    for (int i = 0; i < 30; i++) {
        int color = i % 3 == 0 ? 0 : i % 3 == 1 ? mt.rank % 2 : mt.rank;
        MPI_Comm comm;

        MPI_Comm_split(MPI_COMM_WORLD, color, i % 2 ? -mt.rank : mt.rank,
                       &comm);
        reused += comm == last;
        last = comm;
        exercise(comm, i % 4 == 0 ? 1 : 600 + i, "a communicator made again");
        MPI_Comm_free(&comm);
    }
    mt_check(reused > 0, "no handle was used again: the test shows nothing");
}

/* From a host buffer of rank 0 to the buffers of the other group, on a GPU
 * where there is one. */
static void to_the_others(MPI_Comm inter, int n)
{
    size_t nbytes = (size_t)n * sizeof(double);
    struct mt_buf buf;
    double data[MOST];

    for (int i = 0; i < n; i++)
        data[i] = value(7, i);
    mt_buf_create(&buf, memory && mt.rank > 0 ? MT_DEVICE : MT_HOST, nbytes, 8);
    mt_buf_arm(&buf, nbytes, 0);
    if (mt.rank == 0)
        mt_buf_write(&buf, 0, data, nbytes);
    MPI_Bcast(buf.ptr, n, MPI_DOUBLE, mt.rank ? 0 : MPI_ROOT, inter);
    mt_check(mt_buf_differs(&buf, 0, data, nbytes) < 0,
             "intercommunicator: the broadcast of rank 0 is wrong");
    mt_check(mt_buf_guarded(&buf, nbytes),
             "intercommunicator: guard bytes are gone");
    mt_buf_destroy(&buf);
}

/* Groups {0} and the others; data flows from one to the other. */
static void between(void)
{
    int mine = mt.rank > 0, n = 800, others = mine ? 1 : mt.size - 1;
    size_t nbytes = (size_t)n * sizeof(double);
    int world[64], root = MPI_PROC_NULL;
    MPI_Comm local, inter;
    struct mt_buf send, recv;
    double data[MOST];

    if (mt.size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, mine, mt.rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, mine ? 0 : 1, 5, &inter);
    for (int r = 0; r < others; r++)
        world[r] = mine ? 0 : r + 1;
    for (int i = 0; i < n; i++)
        data[i] = value(mt.rank, i);
    mt_buf_create(&send, kind(), nbytes, 0);
    mt_buf_create(&recv, kind(), nbytes * (size_t)others, 0);
    mt_buf_arm(&send, nbytes, 0);
    mt_buf_arm(&recv, nbytes * (size_t)others, 0);
    mt_buf_write(&send, 0, data, nbytes);
    MPI_Allreduce(send.ptr, recv.ptr, n, MPI_DOUBLE, MPI_SUM, inter);
    check_sum(&recv, world, others, n, "intercommunicator");
    MPI_Allgather(send.ptr, n, MPI_DOUBLE, recv.ptr, n, MPI_DOUBLE, inter);
    check_blocks(&recv, world, others, n, "intercommunicator");
    mt_check(mt_buf_guarded(&recv, nbytes * (size_t)others),
             "intercommunicator: guard bytes are gone");
    if (mt.rank == mt.size - 1)
        root = MPI_ROOT; /* the last rank sends to the group of rank 0 */
    else if (mt.rank == 0)
        root = mt.size - 2;
    MPI_Bcast(send.ptr, n, MPI_DOUBLE, root, inter);
    for (int i = 0; i < n; i++)
        data[i] = value(mt.rank == 0 ? mt.size - 1 : mt.rank, i);
    mt_check(mt_buf_differs(&send, 0, data, nbytes) < 0,
             "intercommunicator: the broadcast is wrong");
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
    to_the_others(inter, 1);
    to_the_others(inter, MOST);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&local);
}

int main(int argc, char **argv)
{
    int memories = mt_option(argc, argv, "gpu", NULL) ? 3 : 1;
    MPI_Comm leaked;

    mt_init();
    if (memories > 1)
        mt_cuda_open(); /* now: the host cases are the engine's too */
    for (memory = 0; memory < memories; memory++) {
        one_rank();
        exercise(MPI_COMM_WORLD, 1, "COMM_WORLD");
        exercise(MPI_COMM_WORLD, MOST, "COMM_WORLD");
        nothing(MPI_COMM_WORLD);
        nothing(MPI_COMM_SELF);
        parts();
        made_again();
        between();
    }
    memory = memories > 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &leaked); /* never freed */
    exercise(leaked, 400, "a leaked communicator");
    return mt_finish();
}
