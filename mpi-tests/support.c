/* SPDX-License-Identifier: BSD-3-Clause */
/* support.c - what programs hear that ask whether MPI takes GPU memory, before
 * MPI_Init and while MPI is up; and that buffers are staged and refused all the
 * same.
 *
 * support --expect=0|1 [--early] [--gpu] */
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"

/* mpi.h of an MPICH declares these: */
int MPIX_Query_cuda_support(void);
int MPIX_GPU_query_support(int type, int *yes);

static int expected;

static void ask(const char *when)
{
    int yes = -1;

    mt_check(MPIX_Query_cuda_support() == expected,
             "MPIX_Query_cuda_support %s: not %d", when, expected);
    mt_check(MPIX_GPU_query_support(0, &yes) == MPI_SUCCESS && yes == expected,
             "MPIX_GPU_query_support %s: %d, not %d", when, yes, expected);
}

static void use(void)
{
    int mine = mt.rank + 1, sum = 0, class;
    struct mt_buf send, recv;

    mt_cuda_open();
    mt_buf_create(&send, MT_DEVICE, sizeof mine, 0);
    mt_buf_create(&recv, MT_DEVICE, sizeof mine, 0);
    mt_buf_write(&send, 0, &mine, sizeof mine);
    MPI_Scan(send.ptr, recv.ptr, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    mt_buf_read(&recv, 0, &sum, sizeof sum);
    mt_check(sum == (mt.rank + 1) * (mt.rank + 2) / 2, "scan gives %d", sum);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(send.ptr, 1, MPI_INT, (mt.rank + 1) % mt.size, 0,
                             MPI_COMM_WORLD),
                    &class);
    mt_check(class == MPI_ERR_BUFFER, "a send gives class %d", class);
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

int main(int argc, char **argv)
{
    int yes = -1;

    expected = atoi(mt_option(argc, argv, "expect", "0"));
    /* MPICH ends a job that asks it so early. */
    if (mt_option(argc, argv, "early", NULL))
        ask("before MPI_Init");
    mt_init();
    ask("while MPI is up");
    mt_check(MPIX_GPU_query_support(2, &yes) == MPI_SUCCESS && yes == 0,
             "an AMD GPU: %d", yes);
    if (mt_option(argc, argv, "gpu", NULL))
        use();
    return mt_finish();
}
