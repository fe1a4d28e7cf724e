/* SPDX-License-Identifier: BSD-3-Clause */
/* behind.c - a staged call fails on rank 1 before MPI hears of it, or one of
 * the engine where nothing can be sent any more, so that the others wait in it:
 * the error comes back on rank 1, and what that rank does next on this
 * communicator, or at the end, ends the job; other communicators go on
 * meanwhile. With the default error handler the job ends at once.
 *
 * behind --next=fatal|Allreduce|Bcast|Reduce|Barrier|Finalize
 *        [--cause=copy|memory|wire] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "faultctl.h"
#include "mt.h"
#include "mtbuf.h"

#define N 100
#define FAILING 1

static const char *next;
static struct mt_buf buf, out;

/* What the failing rank needs for a call on a GPU buffer. */
static void break_it(const char *cause)
{
    if (!strcmp(cause, "wire")) {
        faultctl_open("ucx");
        faultctl_arm("ucp_tag_send_nbx:1+");
    } else if (!strcmp(cause, "memory")) {
        faultctl_open("memory");
        faultctl_arm("aligned_alloc:1+,mmap:1+");
    } else {
        faultctl_open("driver");
        faultctl_arm("cuMemcpyDtoHAsync:1+=999,cuMemcpy:1+=999");
    }
}

/* Rank 1 alone; the others are in the call that failed. */
static void go_on(MPI_Comm comm, MPI_Comm self)
{
    int one = 1, sum = 0;

    mt_check(!MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, self) && sum == 1,
             "another communicator");
    printf("goes on\n");
    fflush(stdout);
    if (!strcmp(next, "Allreduce"))
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    else if (!strcmp(next, "Bcast"))
        MPI_Bcast(buf.ptr, N, MPI_INT, 0, comm);
    else if (!strcmp(next, "Reduce"))
        MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, comm);
    else if (!strcmp(next, "Barrier"))
        MPI_Barrier(comm);
    else
        MPI_Finalize();
    printf("still there\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Comm comm, self;
    int rc;

    next = mt_option(argc, argv, "next", "");
    mt_init();
    mt_cuda_open();
    mt_buf_create(&buf, MT_DEVICE, N * sizeof(int), 0);
    mt_buf_create(&out, MT_DEVICE, N * sizeof(int), 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    if (strcmp(next, "fatal"))
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    mt_check(!MPI_Allreduce(buf.ptr, out.ptr, N, MPI_INT, MPI_SUM, comm),
             "the first call");
    if (mt.rank == FAILING)
        break_it(mt_option(argc, argv, "cause", "copy"));
    rc = MPI_Allreduce(buf.ptr, out.ptr, N, MPI_INT, MPI_SUM, comm);
    if (mt.rank == FAILING) {
        faultctl_arm(NULL);
        mt_check(rc != MPI_SUCCESS, "no error");
        go_on(comm, self);
    }
    printf("rank %d came back with %d\n", mt.rank, rc);
    return mt_finish();
}
