/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c - what belongs to the program is as it was after every call: engine,
 * staged, the first one, one with an error, and MPI_Finalize.
 *
 * state [--gpu] */
#include <stdio.h>

#include "counts.h"
#include "hoststate.h"
#include "mt.h"
#include "mtbuf.h"

#define N 6000

static struct mt_buf a, b;
static int gpu;

static void calls(MPI_Comm comm, int n, const char *when)
{
    double data[N];

    for (int i = 0; i < N; i++)
        data[i] = i;
    mt_buf_write(&a, 0, data, sizeof data);
    MPI_Allreduce(a.ptr, b.ptr, n, MPI_DOUBLE, MPI_SUM, comm);
    hs_check(when);
    MPI_Bcast(a.ptr, n, MPI_DOUBLE, 0, comm);
    hs_check(when);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b.ptr, n / 8, MPI_DOUBLE,
                  comm);
    hs_check(when);
}

static void with_errors(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    mt_check(MPI_Allreduce(a.ptr, b.ptr, N, MPI_DOUBLE, MPI_BAND,
                           MPI_COMM_WORLD) != MPI_SUCCESS,
             "a wrong operation gives no error");
    hs_check("an error of MPI");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void with_types(void)
{
    MPI_Datatype every_other;

    MPI_Type_vector(N / 2, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Bcast(a.ptr, 1, every_other, mt.size - 1, MPI_COMM_WORLD);
    hs_check("a derived type");
    MPI_Type_free(&every_other);
}

int main(int argc, char **argv)
{
    struct mt_ucp_counts ucp;
    MPI_Comm dup;
    int rc;

    gpu = mt_option(argc, argv, "gpu", NULL) != NULL;
    mt_init();
    mt_buf_create(&a, gpu ? MT_DEVICE : MT_HOST, N * sizeof(double), 0);
    if (gpu)
        mt_cuda_ok(cuda.SetDevice(1), "cudaSetDevice");
    mt_buf_create(&b, gpu ? MT_DEVICE : MT_HOST, N * sizeof(double), 0);
    hs_begin(gpu);
    calls(MPI_COMM_WORLD, N, "first calls");
    if (gpu)
        hs_set_device(0);
    calls(MPI_COMM_WORLD, N, "engaged");
    calls(MPI_COMM_WORLD, 16, "small");
    with_errors();
    with_types();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    calls(dup, N, "another communicator");
    MPI_Comm_free(&dup);
    hs_check("a communicator freed");
    mt_buf_destroy(&a);
    mt_buf_destroy(&b);
    if (mt_counts_present()) {
        mt_counts_ucp(&ucp);
        mt_check(ucp.sends > 0, "the engine did nothing");
    }
    rc = mt_finish();
    hs_flushed();
    hs_check("MPI_Finalize");
    return rc || mt.failures;
}
