/* SPDX-License-Identifier: BSD-3-Clause */
/* late_mix.c - CUDA begins in the middle, on some ranks, at any number of calls
 * before, with communicators that were made and used before: small and large
 * calls of the three functions, with roots that have a GPU and that have none.
 *
 * late_mix --before=CALLS --on=first|last|all */
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"

#define N 5000
#define ROUNDS 18

static struct mt_buf buf;
static double data[N], want[N];
static int calls_made;

static void expect(const char *what, int call, int n, int ok)
{
    mt_check(mt_buf_differs(&buf, 0, want, (size_t)n * sizeof *want) < 0 &&
                 mt_buf_guarded(&buf, (size_t)n * sizeof *want) && ok == 0,
             "%s, call %d, %d elements: the result is wrong", what, call, n);
}

/* One call, the function and size by its number. */
static void one_call(MPI_Comm comm, int call)
{
    int rank, size, root, n = call % 4 == 1 ? 4 : N / 4 * (call % 4 + 1), rc;
    size_t nbytes;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    root = call % size;
    n -= n % size;
    nbytes = (size_t)n * sizeof *data;
    for (int i = 0; i < n; i++)
        data[i] = rank + i + call;
    mt_buf_arm(&buf, nbytes, 0);
    mt_buf_write(&buf, 0, data, nbytes);
    for (int i = 0; i < n; i++) {
        int block = i / (n / size);

        want[i] = call % 3 == 0
                      ? size * (size - 1) / 2 + (double)size * (i + call)
                  : call % 3 == 1 ? root + i + call
                                  : block + i + call;
    }
    if (call % 3 == 0)
        rc = MPI_Allreduce(MPI_IN_PLACE, buf.ptr, n, MPI_DOUBLE, MPI_SUM, comm);
    else if (call % 3 == 1)
        rc = MPI_Bcast(buf.ptr, n, MPI_DOUBLE, root, comm);
    else
        rc = MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buf.ptr,
                           n / size, MPI_DOUBLE, comm);
    expect(call % 3 == 0   ? "allreduce"
           : call % 3 == 1 ? "bcast"
                           : "allgather",
           call, n, rc);
    calls_made++;
}

static void start_cuda(const char *on)
{
    if (strcmp(on, "all") != 0 &&
        mt.rank != (strcmp(on, "last") ? 0 : mt.size - 1))
        return;
    mt_buf_destroy(&buf);
    mt_buf_create(&buf, MT_DEVICE, sizeof data, 0);
}

int main(int argc, char **argv)
{
    int before = atoi(mt_option(argc, argv, "before", "0"));
    const char *on = mt_option(argc, argv, "on", "all");
    struct mt_ucp_counts ucp;
    MPI_Comm comms[3];

    mt_init();
    mt_buf_create(&buf, MT_HOST, sizeof data, 0);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, mt.rank > 0, 0, &comms[2]);
    for (int call = 0; call < before; call++)
        one_call(comms[0], call);
    for (int call = 0; call < before / 2; call++)
        one_call(comms[2], call);
    mt_counts_ucp(&ucp);
    mt_check(ucp.sends == 0, "the engine ran before CUDA was there");
    start_cuda(on);
    for (int call = 0; call < ROUNDS; call++) {
        for (int c = 0; c < 3; c++)
            one_call(comms[c], call + c);
    }
    mt_counts_ucp(&ucp);
    mt_check(ucp.sends > 0, "the engine never ran");
    mt_buf_destroy(&buf);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    return mt_finish();
}
