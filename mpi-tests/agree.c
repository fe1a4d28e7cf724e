/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c - a plain program whose results are checked, for the scripts that
 * start it with unequal or bad settings.
 *
 * agree [--gpu] [--cuda] [--first=halves|pair|self] [--errors]
 *   --gpu     device buffers; --cuda: host buffers, but CUDA is loaded
 *   --first   the first collectives run on two halves of the job, on its first
 *             two ranks, or on MPI_COMM_SELF; not on COMM_WORLD
 *   --errors  MPI_ERRORS_RETURN; prints the class of the first error, once */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"

#define MOST 40000

static int answered; /* an error has been printed */

static void answer(int rc)
{
    int class;

    if (rc == MPI_SUCCESS || answered)
        return;
    MPI_Error_class(rc, &class);
    if (mt.rank == 0)
        printf("error class %d\n", class);
    answered = 1;
}

static void exercise(MPI_Comm comm, enum mt_kind kind, int n)
{
    static double mine[MOST], want[MOST];
    size_t nbytes = (size_t)n * sizeof(double);
    struct mt_buf send, recv;
    int rank, size, rc;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mt_buf_create(&send, kind, nbytes, 0);
    mt_buf_create(&recv, kind, nbytes * (size_t)size, 0);
    mt_buf_arm(&send, nbytes, 0);
    mt_buf_arm(&recv, nbytes * (size_t)size, 0);
    for (int i = 0; i < n; i++) {
        mine[i] = rank + i;
        want[i] = size * (size - 1) / 2 + (double)size * i;
    }
    mt_buf_write(&send, 0, mine, nbytes);
    rc = MPI_Allreduce(send.ptr, recv.ptr, n, MPI_DOUBLE, MPI_SUM, comm);
    answer(rc);
    mt_check(rc || mt_buf_differs(&recv, 0, want, nbytes) < 0,
             "the sum of %d is wrong", n);
    rc = MPI_Allgather(send.ptr, n, MPI_DOUBLE, recv.ptr, n, MPI_DOUBLE, comm);
    answer(rc);
    for (int r = 0; r < size && !rc; r++) {
        for (int i = 0; i < n; i++)
            want[i] = r + i;
        mt_check(mt_buf_differs(&recv, (size_t)r * nbytes, want, nbytes) < 0,
                 "block %d of %d is wrong", r, n);
    }
    rc = MPI_Bcast(send.ptr, n, MPI_DOUBLE, size - 1, comm);
    answer(rc);
    for (int i = 0; i < n; i++)
        want[i] = size - 1 + i;
    mt_check(rc || mt_buf_differs(&send, 0, want, nbytes) < 0,
             "the broadcast of %d is wrong", n);
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

/* Collectives on a part of the job, before any on all of it. */
static void begin_with(const char *part, enum mt_kind kind)
{
    int color = mt.rank % 2;
    MPI_Comm comm;

    if (!strcmp(part, "self")) {
        exercise(MPI_COMM_SELF, kind, 1000);
        return;
    }
    if (!strcmp(part, "pair"))
        color = mt.rank < 2 ? 0 : MPI_UNDEFINED;
    MPI_Comm_split(MPI_COMM_WORLD, color, mt.rank, &comm);
    if (comm == MPI_COMM_NULL)
        return;
    exercise(comm, kind, 1000);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    const char *first = mt_option(argc, argv, "first", NULL);
    enum mt_kind kind = MT_HOST;

    mt_init();
    if (mt_option(argc, argv, "gpu", NULL))
        kind = MT_DEVICE;
    if (kind == MT_DEVICE || mt_option(argc, argv, "cuda", NULL))
        mt_cuda_open();
    if (mt_option(argc, argv, "errors", NULL))
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (first)
        begin_with(first, kind);
    exercise(MPI_COMM_WORLD, kind, 1);
    exercise(MPI_COMM_WORLD, kind, MOST);
    return mt_finish();
}
