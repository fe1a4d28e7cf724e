/* SPDX-License-Identifier: BSD-3-Clause */
/* everytype.c - MPI_Bcast and MPI_Allgather of every predefined type, also
 * those that nothing reduces, on host and device.
 *
 * everytype [--gpu] [--way=engine|staged], as everyop.c */
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"
#include "rtypes.h"

enum { NTYPES = 66 + 4, MOST = 301, NLENGTHS = 3 };
#define MOST_BYTES ((size_t)MOST * 32)

static const size_t lengths[NLENGTHS] = {1, 67, MOST};

enum way { ANY, ENGINE, STAGED };

static struct {
    struct rtype types[RT_MAX];
    int ntypes, memory, memories;
    enum way way;
    struct mt_buf send[2], recv[2];
    unsigned char *value, *image, *want, *got;
    long calls, by_mpi;
} t;

static void more_types(void)
{
    const struct rtype more[] = {
        {MPI_CHAR, RT_BYTES, {"MPI_CHAR", OR_NUMBER, {0, 1}, {0}, 0, 1}},
        {MPI_CHARACTER, RT_BYTES, {"CHARACTER", OR_NUMBER, {0, 1}, {0}, 0, 1}},
        {MPI_WCHAR, RT_BYTES, {"MPI_WCHAR", OR_NUMBER, {0, 4}, {0}, 0, 4}},
        {MPI_PACKED, RT_BYTES, {"MPI_PACKED", OR_NUMBER, {0, 1}, {0}, 0, 1}},
    };

    t.ntypes = rt_types(t.types);
    memcpy(t.types + t.ntypes, more, sizeof more);
    t.ntypes += 4;
}

static uint64_t reached_mpi(int func)
{
    struct mt_mpi_counts counts = {{0}};

    if (mt_counts_present())
        mt_counts_mpi(&counts);
    return counts.calls[func];
}

static int on_device(void)
{
    return t.memory == 1 || (t.memory == 2 && mt.rank == (int)(t.calls % 3));
}

/* n elements of `rank`'s data: any bytes. */
static void make(const struct or_type *o, int rank, size_t n,
                 unsigned char *out)
{
    for (size_t i = 0; i < n * o->extent; i++)
        out[i] = (unsigned char)mt_hash((uint64_t)rank + (uint64_t)t.calls, i);
}

static void check(const struct or_type *o, const char *what,
                  const struct mt_buf *buf, size_t n, int by_mpi)
{
    int pads = !by_mpi || buf->kind == MT_DEVICE; /* else MPI's own habits */

    mt_buf_read(buf, 0, t.got, n * o->extent);
    for (size_t i = 0; i < n * o->extent; i++) {
        size_t at = i % o->extent;
        int pad = or_padding(o, at);

        if (t.got[i] == t.want[i] || rt_inside_x87(o, at))
            continue;
        if (!mt_check(pad && !pads, "%s of %zu %s, memory %d: byte %zu", what,
                      n, o->name, t.memory, i))
            break;
    }
    mt_check(mt_buf_guarded(buf, n * o->extent), "%s %s: guards are gone", what,
             o->name);
    t.by_mpi += by_mpi;
    if (t.way != ANY)
        mt_check(by_mpi == (t.way == STAGED), "%s %s: by MPI %d", what, o->name,
                 by_mpi);
    t.calls++;
}

static void bcast(const struct rtype *type, size_t n)
{
    struct mt_buf *buf = &t.recv[on_device()];
    int root = (int)(t.calls / 3 % mt.size), by_mpi;
    unsigned seed = (unsigned)mt.rank;
    uint64_t before = reached_mpi(MT_BCAST);

    make(&type->o, root, n, t.value);
    rt_paint(&type->o, t.value, n, seed, t.want);
    rt_pattern(t.image, n * type->o.extent, seed);
    mt_buf_arm(buf, n * type->o.extent, -1);
    mt_buf_write(buf, 0, mt.rank == root ? t.want : t.image,
                 n * type->o.extent);
    mt_check(!MPI_Bcast(buf->ptr, (int)n, type->mpi, root, MPI_COMM_WORLD),
             "bcast of %s returned an error", type->o.name);
    by_mpi = !mt_counts_present() || reached_mpi(MT_BCAST) > before;
    check(&type->o, "bcast", buf, n, by_mpi);
}

static void allgather(const struct rtype *type, size_t n, int in_place)
{
    int dev = on_device(), by_mpi;
    struct mt_buf *send = &t.send[dev], *recv = &t.recv[dev];
    size_t block = n * type->o.extent, all = n * (size_t)mt.size;
    uint64_t before = reached_mpi(MT_ALLGATHER);

    for (int r = 0; r < mt.size; r++)
        make(&type->o, r, n, t.value + (size_t)r * block);
    rt_paint(&type->o, t.value, all, 7, t.want);
    rt_pattern(t.image, (size_t)mt.size * block, 7);
    memcpy(t.image + (size_t)mt.rank * block, t.want + (size_t)mt.rank * block,
           in_place ? block : 0);
    mt_buf_arm(recv, (size_t)mt.size * block, -1);
    mt_buf_write(recv, 0, t.image, (size_t)mt.size * block);
    mt_buf_arm(send, block, -1);
    mt_buf_write(send, 0, t.want + (size_t)mt.rank * block, block);
    mt_check(!MPI_Allgather(in_place ? MPI_IN_PLACE : send->ptr, (int)n,
                            type->mpi, recv->ptr, (int)n, type->mpi,
                            MPI_COMM_WORLD),
             "allgather of %s returned an error", type->o.name);
    by_mpi = !mt_counts_present() || reached_mpi(MT_ALLGATHER) > before;
    check(&type->o, "allgather", recv, all, by_mpi);
}

static void open_all(int argc, char **argv)
{
    const char *way = mt_option(argc, argv, "way", "");

    more_types();
    t.way = !strcmp(way, "engine")   ? ENGINE
            : !strcmp(way, "staged") ? STAGED
                                     : ANY;
    t.memories = mt_option(argc, argv, "gpu", NULL) ? 3 : 1;
    if (t.memories > 1)
        mt_cuda_open(); /* now: the host cases are the engine's too */
    for (int dev = 0; dev < (t.memories > 1 ? 2 : 1); dev++) {
        enum mt_kind kind = dev ? MT_DEVICE : MT_HOST;

        mt_buf_create(&t.send[dev], kind, MOST_BYTES, 0);
        mt_buf_create(&t.recv[dev], kind, MOST_BYTES * (size_t)mt.size, 16);
    }
    t.value = mt_alloc(MOST_BYTES * (size_t)mt.size);
    t.image = mt_alloc(MOST_BYTES * (size_t)mt.size);
    t.want = mt_alloc(MOST_BYTES * (size_t)mt.size);
    t.got = mt_alloc(MOST_BYTES * (size_t)mt.size);
}

static void close_all(void)
{
    for (int dev = 0; dev < (t.memories > 1 ? 2 : 1); dev++) {
        mt_buf_destroy(&t.send[dev]);
        mt_buf_destroy(&t.recv[dev]);
    }
    free(t.value);
    free(t.image);
    free(t.want);
    free(t.got);
}

int main(int argc, char **argv)
{
    mt_init();
    open_all(argc, argv);
    for (t.memory = 0; t.memory < t.memories; t.memory++)
        for (int k = 0; k < t.ntypes; k++)
            for (int i = 0; i < NLENGTHS; i++) {
                bcast(&t.types[k], lengths[i]);
                allgather(&t.types[k], lengths[i], (k + i) % 2);
            }
    mt_check(t.calls == 2L * NTYPES * NLENGTHS * t.memories, "%ld calls",
             t.calls);
    close_all();
    return mt_finish();
}
