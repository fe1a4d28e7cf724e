/* SPDX-License-Identifier: BSD-3-Clause */
/* userops.c - user-defined operations on derived types: the function gets host
 * memory, the type as it was passed and elements in rank order, wherever the
 * buffers lie and wherever in its extent a type's data begins.
 *
 * userops [--gpu] */
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"

#define I ((MPI_Aint)sizeof(int))
enum { NINTS = 2, EXTENT = 6, LAYOUTS = 4 };

/* Two ints of an element, in ints from its address; elements lie `extent` ints
 * apart. MPICH 4.0.2 itself writes past its buffers for a negative extent. */
static const struct {
    const char *name;
    int at[NINTS], lb, extent;
} layouts[LAYOUTS] = {
    {"contiguous", {0, 1}, 0, 2},
    {"true lower bound 2", {2, 4}, 0, EXTENT},
    {"negative lower bound", {-3, 1}, -3, EXTENT},
    {"data before the extent", {-2, -1}, 0, EXTENT},
};

static struct {
    MPI_Datatype type;
    int layout, wrong_type, memories, memory, cells;
} now;

static void make_type(int k, MPI_Datatype *type)
{
    const int lengths[NINTS] = {1, 1};
    const MPI_Aint at[NINTS] = {layouts[k].at[0] * I, layouts[k].at[1] * I};
    MPI_Datatype bare;

    MPI_Type_create_hindexed(NINTS, lengths, at, MPI_INT, &bare);
    MPI_Type_create_resized(bare, layouts[k].lb * I, layouts[k].extent * I,
                            type);
    MPI_Type_free(&bare);
    MPI_Type_commit(type);
}

/* x * t + y modulo a prime, composed: associative and not commutative. */
static void compose(const int *x, int *y)
{
    enum { PRIME = 10007 };
    int a = x[0] * y[0] % PRIME, b = (x[0] * y[1] + x[1]) % PRIME;

    y[0] = a;
    y[1] = b;
}

/* Reads and writes the operands as a host function does: a device pointer would
 * end the process. */
static void apply(void *in, void *inout, int *len, MPI_Datatype *type)
{
    int k = now.layout;

    now.wrong_type += *type != now.type;
    for (int i = 0; i < *len; i++) {
        int *x = (int *)in + (ptrdiff_t)i * layouts[k].extent;
        int *y = (int *)inout + (ptrdiff_t)i * layouts[k].extent;
        int u[NINTS] = {x[layouts[k].at[0]], x[layouts[k].at[1]]};
        int v[NINTS] = {y[layouts[k].at[0]], y[layouts[k].at[1]]};

        compose(u, v);
        y[layouts[k].at[0]] = v[0];
        y[layouts[k].at[1]] = v[1];
    }
}

static void value(int rank, int i, int *out)
{
    uint64_t h = mt_hash((uint64_t)rank + 3, (uint64_t)i);

    out[0] = 1 + (int)(h % 10000);
    out[1] = (int)(h >> 20 & 0xfff);
}

/* Index of int `part` of element i in an area whose address is its middle. */
static ptrdiff_t index_of(int n, int i, int part)
{
    int k = now.layout;

    return (ptrdiff_t)(n + 1) * EXTENT + (ptrdiff_t)i * layouts[k].extent +
           layouts[k].at[part];
}

/* The image of an area: a pattern, and the elements of one rank or the result.
 */
static void image(int *out, int n, int pattern, int result)
{
    for (int i = 0; i < 2 * (n + 1) * EXTENT; i++)
        out[i] = pattern - i;
    for (int i = 0; i < n; i++) {
        int acc[NINTS], v[NINTS];

        value(result ? mt.size - 1 : mt.rank, i, acc);
        for (int r = mt.size - 2; result && r >= 0; r--) {
            value(r, i, v);
            compose(v, acc);
        }
        out[index_of(n, i, 0)] = acc[0];
        out[index_of(n, i, 1)] = acc[1];
    }
}

static uint64_t reached_mpi(void)
{
    struct mt_mpi_counts counts = {{0}};

    if (mt_counts_present())
        mt_counts_mpi(&counts);
    return counts.calls[MT_ALLREDUCE];
}

static enum mt_kind kind(void)
{
    if (now.memory < 2)
        return now.memory ? MT_DEVICE : MT_HOST;
    return mt.rank == 1 ? MT_DEVICE : MT_HOST;
}

static void one(MPI_Op op, int n, int in_place)
{
    size_t ints = 2 * (size_t)(n + 1) * EXTENT, nbytes = ints * sizeof(int);
    size_t middle = nbytes / 2;
    int *mine = mt_alloc(nbytes), *want = mt_alloc(nbytes);
    struct mt_buf send, recv;
    uint64_t before = reached_mpi();

    mt_buf_create(&send, kind(), nbytes, 0);
    mt_buf_create(&recv, kind(), nbytes, 0);
    mt_buf_arm(&send, nbytes, 0);
    mt_buf_arm(&recv, nbytes, 0);
    image(mine, n, -1 - mt.rank, 0);
    image(want, n, in_place ? -1 - mt.rank : -77, 1);
    mt_buf_write(&send, 0, mine, nbytes);
    if (in_place)
        mt_buf_write(&recv, 0, mine, nbytes);
    else
        for (size_t i = 0; i < ints; i++)
            mine[i] = -77 - (int)i;
    if (!in_place)
        mt_buf_write(&recv, 0, mine, nbytes);
    now.wrong_type = 0;
    mt_check(MPI_Allreduce(in_place ? MPI_IN_PLACE : send.ptr + middle,
                           recv.ptr + middle, n, now.type, op,
                           MPI_COMM_WORLD) == MPI_SUCCESS,
             "%s returned an error", layouts[now.layout].name);
    mt_check(mt_buf_differs(&recv, 0, want, nbytes) < 0,
             "%s, memory %d, in place %d, %d elements: wrong from byte %lld on",
             layouts[now.layout].name, now.memory, in_place, n,
             mt_buf_differs(&recv, 0, want, nbytes) - (long long)middle);
    mt_check(now.wrong_type == 0, "%d calls of the function with another type",
             now.wrong_type);
    if (mt_counts_present())
        mt_check(reached_mpi() == before + 1, "the call did not go to MPI");
    now.cells++;
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
    free(mine);
    free(want);
}

int main(int argc, char **argv)
{
    MPI_Op op;

    mt_init();
    now.memories = 1;
    if (mt_option(argc, argv, "gpu", NULL)) {
        mt_cuda_open();
        now.memories = 3;
    }
    MPI_Op_create(apply, 0, &op);
    for (now.layout = 0; now.layout < LAYOUTS; now.layout++) {
        make_type(now.layout, &now.type);
        for (now.memory = 0; now.memory < now.memories; now.memory++)
            for (int in_place = 0; in_place < 2; in_place++) {
                one(op, 3, in_place);
                one(op, 2500, in_place);
            }
        MPI_Type_free(&now.type);
    }
    MPI_Op_free(&op);
    mt_check(now.cells == LAYOUTS * now.memories * 4, "%d cells", now.cells);
    return mt_finish();
}
