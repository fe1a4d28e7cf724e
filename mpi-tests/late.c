/* SPDX-License-Identifier: BSD-3-Clause */
/* late.c - a program that starts CUDA only after some collectives on host
 * memory: first everything passes to MPI, then the engine takes over, without
 * a wrong result in between.
 *
 * late --on=all | --on=one */
#include <stdio.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"

#define N 5000 /* above COAX_SMALL */

static struct mt_buf buf;

static void set_kind(enum mt_kind kind)
{
    if (buf.alloc)
        mt_buf_destroy(&buf);
    mt_buf_create(&buf, kind, N * sizeof(double), 0);
}

static uint64_t engine_sends(void)
{
    struct mt_ucp_counts ucp;

    mt_counts_ucp(&ucp);
    return ucp.sends;
}

static uint64_t reached_mpi(void)
{
    struct mt_mpi_counts mpi;

    mt_counts_mpi(&mpi);
    return mpi.calls[MT_ALLREDUCE];
}

static void allreduce(MPI_Comm comm, const char *when)
{
    double data[N], want[N];

    for (int i = 0; i < N; i++) {
        data[i] = mt.rank + i;
        want[i] = mt.size * (mt.size - 1) / 2 + (double)mt.size * i;
    }
    mt_buf_arm(&buf, sizeof data, 0);
    mt_buf_write(&buf, 0, data, sizeof data);
    MPI_Allreduce(MPI_IN_PLACE, buf.ptr, N, MPI_DOUBLE, MPI_SUM, comm);
    mt_check(mt_buf_differs(&buf, 0, want, sizeof want) < 0,
             "%s: the result is wrong", when);
    mt_check(mt_buf_guarded(&buf, sizeof data), "%s: guard bytes are gone",
             when);
}

int main(int argc, char **argv)
{
    const char *on = mt_option(argc, argv, "on", "all");
    int all = !strcmp(on, "all"), calls = 0;
    uint64_t before;
    MPI_Comm fresh;

    mt_init();
    set_kind(MT_HOST);
    for (int i = 0; i < 5; i++)
        allreduce(MPI_COMM_WORLD, "before CUDA");
    mt_check(engine_sends() == 0, "the engine ran before CUDA was loaded");
    mt_check(reached_mpi() == 5, "%llu of 5 calls reached MPI",
             (unsigned long long)reached_mpi());
    if (all || mt.rank == mt.size - 1)
        set_kind(MT_DEVICE);
    /* Asked again at calls 2, 4, 8, ...: engaged after at most as many more. */
    while (engine_sends() == 0 && calls < 16) {
        allreduce(MPI_COMM_WORLD, "after CUDA was loaded");
        calls++;
    }
    mt_check(calls < 16, "the engine has not taken over after %d calls", calls);
    before = reached_mpi();
    for (int i = 0; i < 3; i++)
        allreduce(MPI_COMM_WORLD, "engaged");
    mt_check(reached_mpi() == before, "an engaged call reached MPI");
    MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
    allreduce(fresh, "a new communicator");
    mt_check(reached_mpi() == before, "a call on a new communicator reached "
                                      "MPI");
    set_kind(MT_HOST);
    allreduce(fresh, "host memory again");
    mt_check(reached_mpi() == before, "a host buffer in an engaged job reached "
                                      "MPI");
    MPI_Comm_free(&fresh);
    mt_buf_destroy(&buf);
    return mt_finish();
}
