/* SPDX-License-Identifier: BSD-3-Clause */
/* agree.c - a plain program whose results are checked, for the scripts that
 * start it with unequal or bad settings.
 *
 * agree [--gpu] [--cuda] [--split] [--errors]
 *   --gpu     device buffers; --cuda: host buffers, but CUDA is loaded
 *   --split   the first collectives run on two halves, not on COMM_WORLD
 *   --errors  MPI_ERRORS_RETURN; prints the class of the first error, once */
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
    enum mt_kind kind = MT_HOST;
    MPI_Comm half;

    mt_init();
    if (mt_option(argc, argv, "gpu", NULL))
        kind = MT_DEVICE;
    if (kind == MT_DEVICE || mt_option(argc, argv, "cuda", NULL))
        mt_cuda_open();
    if (mt_option(argc, argv, "errors", NULL))
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (mt_option(argc, argv, "split", NULL)) {
        MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, mt.rank, &half);
        exercise(half, kind, 1000);
        MPI_Comm_free(&half);
    }
    exercise(MPI_COMM_WORLD, kind, 1);
    exercise(MPI_COMM_WORLD, kind, MOST);
    return mt_finish();
}
