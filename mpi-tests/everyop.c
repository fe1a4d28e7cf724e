/* SPDX-License-Identifier: BSD-3-Clause */
/* everyop.c - MPI_Allreduce of every predefined type with every operation that
 * MPI allows on it, against the scalar oracle, on host and device.
 *
 * everyop [--gpu] [--plain] [--way=engine|staged]
 *   --plain  on MPI alone, without what MPICH 4.0.2 gets wrong
 *   --way    who must have served the calls, by the counting preloads
 *
 * Buffers begin as a pattern that tells the ranks apart: what lies between the
 * parts of a pair, and between elements, must be there afterwards. */
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"
#include "rtypes.h"

/* Types x operations: 21 x 10, 8 x 7, 11 x 4, 13 x 2, 3 x 3, bytes 3, 9 x 2. */
#define CELLS (210 + 56 + 44 + 26 + 9 + 3 + 18)
#define MOST 501
#define BIG 40009 /* several tiles, for elements of odd sizes */
#define MOST_BYTES (BIG * 32)

enum way { ANY, ENGINE, STAGED };

static struct {
    struct rtype types[RT_MAX];
    int ntypes, memory, memories, plain, mpich402;
    enum way way;
    struct mt_buf send[2], recv[2];
    unsigned char *value, *result;    /* padding zero: of a cell, any length */
    unsigned char *mine, *want, *got; /* of a call, with its padding */
    long cells, by_mpi;
} t;

/* What the self-test must find in MPICH 4.0.2, known from elsewhere: unsigned
 * MIN and MAX, anything that orders floats, quad and half. */
static int mpich_wrong(const struct rtype *type, enum or_op op)
{
    const struct or_part *part = &type->o.value;
    int is_float = part->class == OR_FLOAT || part->class == OR_X87;
    int orders = op == OR_MIN || op == OR_MAX || type->group == RT_PAIR;

    if (part->class == OR_FLOAT && (part->size == 2 || part->size == 16))
        return 1;
    return orders && (is_float || part->class == OR_UNSIGNED);
}

static uint64_t reached_mpi(void)
{
    struct mt_mpi_counts counts = {{0}};

    if (mt_counts_present())
        mt_counts_mpi(&counts);
    return counts.calls[MT_ALLREDUCE];
}

static int on_device(void)
{
    return t.memory == 1 || (t.memory == 2 && mt.rank == (int)(t.cells % 3));
}

/* This rank's data, and the result over all ranks; those of fewer elements are
 * their first ones. */
static void make(const struct rtype *type, enum or_op op, size_t n)
{
    size_t extent = type->o.extent;

    memset(t.value, 0, n * extent);
    memset(t.result, 0, n * extent);
    for (size_t i = 0; i < n; i++) {
        unsigned char x[32] = {0};

        rt_put(type, op, mt.rank, i, t.value + i * extent);
        rt_put(type, op, 0, i, t.result + i * extent);
        for (int r = 1; r < mt.size; r++) {
            rt_put(type, op, r, i, x);
            or_fold(&type->o, op, t.result + i * extent, x);
        }
    }
}

static void check_padding(const struct rtype *type, const char *what, size_t n,
                          int by_mpi)
{
    size_t extent = type->o.extent;

    for (size_t i = 0; i < n * extent; i++) {
        int differs = t.got[i] != t.want[i];

        if (!or_padding(&type->o, i % extent))
            continue;
        if (rt_inside_x87(&type->o, i % extent))
            differs = mt.size > 1 && !by_mpi && t.got[i] != 0;
        if (!mt_check(!differs, "%s %s: padding byte %zu became %02x", what,
                      type->o.name, i, t.got[i]))
            return;
    }
}

static void check(const struct rtype *type, enum or_op op, size_t n, int by_mpi,
                  const struct mt_buf *recv)
{
    const char *what = or_op_name[op];
    size_t extent = type->o.extent;
    int any_nan = by_mpi && type->o.kind != OR_PAIR;

    mt_buf_read(recv, 0, t.got, n * extent);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *got = t.got + i * extent,
                            *want = t.want + i * extent;

        /* MPI may keep any payload. */
        if (any_nan && or_is_nan(&type->o, want) && or_is_nan(&type->o, got))
            continue;
        if (!mt_check(!or_differs(&type->o, got, want),
                      "%s %s, memory %d, by MPI %d: element %zu of %zu", what,
                      type->o.name, t.memory, by_mpi, i, n))
            break;
    }
    /* On host memory that MPI was given, its own habits. */
    if (!by_mpi || recv->kind == MT_DEVICE)
        check_padding(type, what, n, by_mpi);
    mt_check(mt_buf_guarded(recv, n * extent), "%s %s: guard bytes are gone",
             what, type->o.name);
}

static void check_way(const struct rtype *type, enum or_op op, int by_mpi)
{
    int want = t.way == STAGED && !mpich_wrong(type, op);

    t.by_mpi += by_mpi;
    if (t.way == ENGINE || (t.way == STAGED && t.mpich402))
        mt_check(by_mpi == want, "%s %s: %s", or_op_name[op], type->o.name,
                 by_mpi ? "went to MPI" : "did not go to MPI");
}

static void one(const struct rtype *type, enum or_op op, size_t n, int place)
{
    int dev = on_device(), by_mpi;
    struct mt_buf *send = &t.send[dev], *recv = &t.recv[dev];
    size_t nbytes = n * type->o.extent;
    uint64_t before = reached_mpi();

    rt_paint(&type->o, t.value, n, (unsigned)mt.rank, t.mine);
    rt_paint(&type->o, t.result, n, place ? (unsigned)mt.rank : 7, t.want);
    rt_pattern(t.got, nbytes, 7);
    mt_buf_arm(recv, nbytes, -1);
    mt_buf_write(recv, 0, place ? t.mine : t.got, nbytes);
    mt_buf_arm(send, nbytes, -1);
    mt_buf_write(send, 0, t.mine, nbytes);
    mt_check(MPI_Allreduce(place ? MPI_IN_PLACE : send->ptr, recv->ptr, (int)n,
                           type->mpi, rt_mpi_op(op),
                           MPI_COMM_WORLD) == MPI_SUCCESS,
             "%s %s returned an error", or_op_name[op], type->o.name);
    by_mpi = t.plain || reached_mpi() > before;
    check(type, op, n, by_mpi, recv);
    check_way(type, op, by_mpi);
    mt_check(mt_buf_differs(send, 0, t.mine, nbytes) < 0,
             "%s %s: the send buffer changed", or_op_name[op], type->o.name);
}

/* One type and operation on every kind of memory; without a GPU also those
 * of the lengths 1 to 67, the tails of every vector width, that are its turn.
 */
static void cell(const struct rtype *type, enum or_op op, size_t turn,
                 size_t nops)
{
    int big = turn == 0 && !t.plain &&
              (type->group == RT_PAIR || type->o.value.class == OR_X87);

    make(type, op, big ? BIG : MOST);
    for (t.memory = 0; t.memory < t.memories; t.memory++, t.cells++) {
        one(type, op, 1, 0);
        one(type, op, 67, 1);
        one(type, op, MOST, (int)(turn & 1));
        if (big)
            one(type, op, BIG, t.memory & 1);
    }
    t.memory = 0;
    for (size_t n = turn; n <= 67 && t.memories == 1; n += nops)
        if (n > 0)
            one(type, op, n, (int)(n / nops & 1));
}

static void every_cell(void)
{
    for (int k = 0; k < t.ntypes; k++) {
        const enum or_op *ops = rt_ops(t.types[k].group);
        size_t nops = 0;

        while (ops[nops] != OR_NOPS)
            nops++;
        for (size_t i = 0; i < nops; i++) {
            if (t.plain && mpich_wrong(&t.types[k], ops[i]))
                t.cells++;
            else
                cell(&t.types[k], ops[i], i, nops);
        }
    }
}

static void open_all(int argc, char **argv)
{
    const char *way = mt_option(argc, argv, "way", "");
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int len;

    t.plain = mt_option(argc, argv, "plain", NULL) != NULL;
    t.way = !strcmp(way, "engine")   ? ENGINE
            : !strcmp(way, "staged") ? STAGED
                                     : ANY;
    MPI_Get_library_version(version, &len);
    t.mpich402 = strstr(version, "4.0.2") != NULL;
    t.ntypes = rt_types(t.types);
    t.memories = mt_option(argc, argv, "gpu", NULL) ? 3 : 1;
    if (t.memories > 1)
        mt_cuda_open(); /* now: the host cases are the engine's too */
    for (int dev = 0; dev < (t.memories > 1 ? 2 : 1); dev++) {
        mt_buf_create(&t.send[dev], dev ? MT_DEVICE : MT_HOST, MOST_BYTES, 0);
        mt_buf_create(&t.recv[dev], dev ? MT_DEVICE : MT_HOST, MOST_BYTES, 16);
    }
    t.mine = mt_alloc(MOST_BYTES);
    t.want = mt_alloc(MOST_BYTES);
    t.got = mt_alloc(MOST_BYTES);
    t.value = mt_alloc(MOST_BYTES);
    t.result = mt_alloc(MOST_BYTES);
}

int main(int argc, char **argv)
{
    struct mt_ucp_counts ucp;

    mt_init();
    open_all(argc, argv);
    every_cell();
    mt_check(t.cells == (long)t.memories * CELLS, "%ld cells of (type, op)",
             t.cells);
    if (t.way != ANY) {
        mt_counts_ucp(&ucp);
        mt_check(ucp.sends > 0, "the engine has sent nothing");
        mt_check((t.by_mpi > 0) == (t.way == STAGED), "%ld calls reached MPI",
                 t.by_mpi);
    }
    for (int dev = 0; dev < (t.memories > 1 ? 2 : 1); dev++) {
        mt_buf_destroy(&t.send[dev]);
        mt_buf_destroy(&t.recv[dev]);
    }
    free(t.mine);
    free(t.want);
    free(t.got);
    free(t.value);
    free(t.result);
    return mt_finish();
}
