/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c - what the staged collectives copy, by the counters of the simulated
 * GPU: the bytes that counts and types describe and no others, in few copies;
 * nothing where no buffer that the call uses lies on a GPU.
 *
 * copies, on the simulated GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define N 1000 /* ints in a block */
#define BLOCK (N * sizeof(int))
#define MANY 64
#define FAR ((size_t)256 << 20)

static struct mt_copies before;
static int *values;

static void start(void)
{
    mt_sim_copies(&before);
}

/* Since start(): copies and bytes in each direction. */
static void expect(const char *what, int d2h_copies, size_t d2h, int h2d_copies,
                   size_t h2d)
{
    struct mt_copies now;

    mt_sim_copies(&now);
    mt_check(now.d2h_copies - before.d2h_copies == (uint64_t)d2h_copies &&
                 now.d2h - before.d2h == d2h,
             "%s: %d copies of %d bytes from the GPU, not %d of %d", what,
             (int)(now.d2h_copies - before.d2h_copies),
             (int)(now.d2h - before.d2h), d2h_copies, (int)d2h);
    mt_check(now.h2d_copies - before.h2d_copies == (uint64_t)h2d_copies &&
                 now.h2d - before.h2d == h2d,
             "%s: %d copies of %d bytes to the GPU, not %d of %d", what,
             (int)(now.h2d_copies - before.h2d_copies),
             (int)(now.h2d - before.h2d), h2d_copies, (int)h2d);
}

static void put(struct mt_buf *buf, int rank)
{
    for (int i = 0; i < N; i++)
        values[i] = rank * N + i;
    mt_buf_write(buf, 0, values, BLOCK);
}

static void check_block(const struct mt_buf *buf, size_t off, int rank,
                        const char *what)
{
    for (int i = 0; i < N; i++)
        values[i] = rank * N + i;
    mt_check(mt_buf_differs(buf, off, values, BLOCK) < 0,
             "%s: block of rank %d", what, rank);
}

static void gatherv(struct mt_buf *send, struct mt_buf *recv, int distance)
{
    int n[MANY], displs[MANY], root = mt.size - 1, is_root = mt.rank == root;
    size_t all = BLOCK * (size_t)mt.size;

    for (int r = 0; r < mt.size; r++) {
        n[r] = N;
        displs[r] = r * distance;
    }
    put(send, mt.rank);
    start();
    MPI_Gatherv(send->ptr, N, MPI_INT, recv->ptr, n, displs, MPI_INT, root,
                MPI_COMM_WORLD);
    expect("gatherv", 1, BLOCK, is_root, is_root ? all : 0);
    for (int r = 0; is_root && r < mt.size; r++)
        check_block(recv, (size_t)(r * distance) * sizeof(int), r, "gatherv");
}

/* Both buffers with gaps; each takes one copy. */
static void alltoallv(struct mt_buf *send, struct mt_buf *recv)
{
    int n[MANY], sdispls[MANY], rdispls[MANY];
    size_t all = sizeof(int) * 100 * (size_t)mt.size;

    for (int r = 0; r < mt.size; r++) {
        n[r] = 100;
        sdispls[r] = r * 110;
        rdispls[r] = (mt.size - 1 - r) * 130;
    }
    start();
    MPI_Alltoallv(send->ptr, n, sdispls, MPI_INT, recv->ptr, n, rdispls,
                  MPI_INT, MPI_COMM_WORLD);
    expect("alltoallv", 1, all, 1, all);
}

/* Every other int of the receive buffer. */
static void holes(struct mt_buf *send, struct mt_buf *recv)
{
    size_t all = BLOCK * (size_t)mt.size;
    MPI_Datatype other;

    MPI_Type_create_resized(MPI_INT, 0, 8, &other);
    MPI_Type_commit(&other);
    start();
    MPI_Gather(send->ptr, N, MPI_INT, recv->ptr, N, other, 0, MPI_COMM_WORLD);
    expect("gather with holes", 1, BLOCK, mt.rank == 0, mt.rank == 0 ? all : 0);
    MPI_Type_free(&other);
}

/* Two allocations, named from the first, far apart. */
static void far_apart(struct mt_buf *send)
{
    MPI_Count n[MANY] = {0};
    MPI_Aint displs[MANY] = {0};
    struct mt_buf a, between, b;

    mt_buf_create(&a, MT_DEVICE, BLOCK, 0);
    mt_buf_create(&between, MT_DEVICE, FAR, 0);
    mt_buf_create(&b, MT_DEVICE, BLOCK, 0);
    n[0] = n[mt.size - 1] = N;
    displs[mt.size - 1] = (MPI_Aint)(b.ptr - a.ptr) / (MPI_Aint)sizeof(int);
    mt_check(llabs((long long)(b.ptr - a.ptr)) >= (long long)FAR,
             "the allocations are not far apart");
    put(send, mt.rank);
    start();
    MPI_Gatherv_c(send->ptr, n[mt.rank], MPI_INT, a.ptr, n, displs, MPI_INT, 0,
                  MPI_COMM_WORLD);
    expect("far apart", n[mt.rank] > 0, n[mt.rank] ? BLOCK : 0,
           mt.rank == 0 ? 2 : 0, mt.rank == 0 ? 2 * BLOCK : 0);
    if (mt.rank == 0) {
        check_block(&a, 0, 0, "far apart");
        check_block(&b, 0, mt.size - 1, "far apart");
    }
    mt_buf_destroy(&a);
    mt_buf_destroy(&between);
    mt_buf_destroy(&b);
}

/* Absolute addresses, one block on the GPU and the others in host memory. */
static void absolute(struct mt_buf *send, struct mt_buf *recv, int *host)
{
    MPI_Datatype from[MANY], to[MANY];
    int n[MANY], zero[MANY] = {0};
    MPI_Aint at;

    put(send, mt.rank);
    for (int r = 0; r < mt.size; r++) {
        n[r] = 1;
        MPI_Get_address(send->ptr, &at);
        MPI_Type_create_hindexed_block(1, N, &at, MPI_INT, &from[r]);
        MPI_Get_address(r ? (void *)(host + r * N) : recv->ptr, &at);
        MPI_Type_create_hindexed_block(1, N, &at, MPI_INT, &to[r]);
        MPI_Type_commit(&from[r]);
        MPI_Type_commit(&to[r]);
    }
    start();
    MPI_Alltoallw(MPI_BOTTOM, n, zero, from, MPI_BOTTOM, n, zero, to,
                  MPI_COMM_WORLD);
    expect("absolute", 1, BLOCK, 1, BLOCK);
    check_block(recv, 0, 0, "absolute");
    for (int r = 0; r < mt.size; r++) {
        for (int i = 0; r && i < N; i++)
            mt_check(host[r * N + i] == r * N + i, "absolute: host block");
        MPI_Type_free(&from[r]);
        MPI_Type_free(&to[r]);
    }
}

/* One type over three memories, of which the first and the last are the
 * host's: the heap, the GPU, the stack. */
static void between(struct mt_buf *send)
{
    static const int lengths[3] = {N, N, N};
    int *heap = mt_alloc(BLOCK), *got = mt_alloc(3 * BLOCK * (size_t)mt.size);
    int stack[N], root = 0;
    MPI_Datatype all;
    MPI_Aint at[3];

    for (int i = 0; i < N; i++) {
        heap[i] = mt.rank * N + i;
        stack[i] = -heap[i];
    }
    put(send, mt.rank);
    MPI_Get_address(heap, &at[0]);
    MPI_Get_address(send->ptr, &at[1]);
    MPI_Get_address(stack, &at[2]);
    mt_check(at[0] < at[1] && at[1] < at[2], "the GPU is not in between");
    MPI_Type_create_hindexed(3, lengths, at, MPI_INT, &all);
    MPI_Type_commit(&all);
    start();
    MPI_Gather(MPI_BOTTOM, 1, all, got, 3 * N, MPI_INT, root, MPI_COMM_WORLD);
    expect("between", 1, BLOCK, 0, 0);
    for (int i = 0; mt.rank == root && i < 3 * N * mt.size; i++) {
        int want = i / (3 * N) * N + i % N;

        mt_check(got[i] == (i / N % 3 == 2 ? -want : want), "between: int %d",
                 i);
    }
    MPI_Type_free(&all);
    free(heap);
    free(got);
}

/* A buffer on the GPU that the call does not use. */
static void unused(int *host, struct mt_buf *recv)
{
    void *there = mt.rank == 0 ? (void *)(host + N) : recv->ptr;

    start();
    MPI_Reduce(host, there, N, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Gather(host, 1, MPI_INT, there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    expect("unused buffer", 0, 0, 0, 0);
}

int main(void)
{
    struct mt_buf send, recv;
    int *host;

    mt_init();
    mt_cuda_open();
    if (!mt_sim_present())
        mt_die("the counters are those of the simulated GPU");
    values = mt_alloc(BLOCK);
    host = mt_alloc(BLOCK * (size_t)(mt.size + 2));
    memset(host, 0, BLOCK * (size_t)(mt.size + 2));
    mt_buf_create(&send, MT_DEVICE, 2 * BLOCK, 4);
    mt_buf_create(&recv, MT_DEVICE, 2 * BLOCK * (size_t)mt.size, 8);
    mt_buf_arm(&send, 2 * BLOCK, 0);
    mt_buf_arm(&recv, 2 * BLOCK * (size_t)mt.size, 0);
    gatherv(&send, &recv, N);
    gatherv(&send, &recv, 2 * N - 1);
    alltoallv(&send, &recv);
    holes(&send, &recv);
    far_apart(&send);
    absolute(&send, &recv, host);
    between(&send);
    unused(host, &recv);
    mt_check(mt_buf_guarded(&send, 2 * BLOCK) &&
                 mt_buf_guarded(&recv, 2 * BLOCK * (size_t)mt.size),
             "guard bytes are gone");
    return mt_finish();
}
