/* SPDX-License-Identifier: BSD-3-Clause */
/* bottom.c - buffers named by MPI_BOTTOM and a type of absolute addresses on
 * one rank, and plainly on the others.
 *
 * bottom [--gpu] */
#include <stdlib.h>

#include "mt.h"
#include "mtbuf.h"

#define MOST 65536

static enum mt_kind kind = MT_HOST;
static int *data;

/* `n` ints at `addr`, as seen from MPI_BOTTOM; one after another they are
 * `n` ints apart. */
static MPI_Datatype absolute(void *addr, int n)
{
    MPI_Datatype there, spaced;
    MPI_Aint at;

    MPI_Get_address(addr, &at);
    MPI_Type_create_hindexed_block(1, n, &at, MPI_INT, &there);
    MPI_Type_create_resized(there, 0, n * (MPI_Aint)sizeof(int), &spaced);
    MPI_Type_commit(&spaced);
    MPI_Type_free(&there);
    return spaced;
}

static void write_ints(struct mt_buf *buf, int n, int first)
{
    mt_buf_arm(buf, (size_t)n * sizeof(int), 0);
    for (int i = 0; i < n; i++)
        data[i] = first + i;
    mt_buf_write(buf, 0, data, (size_t)n * sizeof(int));
}

static void check_ints(struct mt_buf *buf, int n, const char *what)
{
    size_t nbytes = (size_t)n * sizeof(int);

    for (int i = 0; i < n; i++)
        data[i] = i;
    mt_check(mt_buf_differs(buf, 0, data, nbytes) < 0, "%s of %d ints is wrong",
             what, n);
    mt_check(mt_buf_guarded(buf, nbytes), "guard bytes are gone");
}

static void gather(int special, int n)
{
    size_t nbytes = (size_t)n * sizeof(int);
    struct mt_buf send, recv;
    MPI_Datatype from, to;

    mt_buf_create(&send, kind, nbytes, 0);
    mt_buf_create(&recv, kind, nbytes * (size_t)mt.size, 0);
    write_ints(&send, n, mt.rank * n);
    mt_buf_arm(&recv, nbytes * (size_t)mt.size, 0);
    from = absolute(send.ptr, n);
    to = absolute(recv.ptr, n);
    if (mt.rank == special)
        MPI_Allgather(MPI_BOTTOM, 1, from, MPI_BOTTOM, 1, to, MPI_COMM_WORLD);
    else
        MPI_Allgather(send.ptr, n, MPI_INT, recv.ptr, n, MPI_INT,
                      MPI_COMM_WORLD);
    check_ints(&recv, n * mt.size, "allgather");
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

static void broadcast(int special, int root, int n)
{
    struct mt_buf buf;
    MPI_Datatype type;

    mt_buf_create(&buf, kind, (size_t)n * sizeof(int), 0);
    write_ints(&buf, n, mt.rank == root ? 0 : -n);
    type = absolute(buf.ptr, n);
    if (mt.rank == special)
        MPI_Bcast(MPI_BOTTOM, 1, type, root, MPI_COMM_WORLD);
    else
        MPI_Bcast(buf.ptr, n, MPI_INT, root, MPI_COMM_WORLD);
    check_ints(&buf, n, "bcast");
    MPI_Type_free(&type);
    mt_buf_destroy(&buf);
}

int main(int argc, char **argv)
{
    mt_init();
    data = mt_alloc(MOST * (size_t)mt.size * sizeof *data);
    if (mt_option(argc, argv, "gpu", NULL)) {
        mt_cuda_open();
        kind = MT_DEVICE;
    }
    for (int n = 10; n <= MOST; n = n * 80 + 7) {
        for (int special = 0; special < mt.size; special++) {
            gather(special, n);
            broadcast(special, special, n);
            broadcast(special, (special + 1) % mt.size, n);
        }
    }
    free(data);
    return mt_finish();
}
