/* SPDX-License-Identifier: BSD-3-Clause */
/* many.c - very many communicators: 10,000 made and freed, 1,000 alive at
 * once, each used for calls of every way. Memory, descriptors, endpoints and
 * GPU objects must not grow with those that are gone, and an attribute of the
 * program's is copied and deleted as often as the program says.
 *
 * many [--gpu] [--total=N] [--alive=N] [--bytes=N]
 * --bytes: what a communicator alive may cost in memory, MPI's share included,
 * also when it has made calls of 1 MiB
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define SMALL 4    /* doubles: left to MPI */
#define LARGE 2000 /* served by the engine */
#define BIG (128 << 10)
#define NBIG 200 /* communicators */

static struct mt_buf buf;
static double data[BIG], want[BIG];
static int copies, deletes, keyval;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out,
                int *flag)
{
    (void)comm;
    (void)key;
    (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void use(MPI_Comm comm, int n, int number)
{
    int size, rank, sum = 0;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int r = 0; r < size; r++)
        sum += r;
    for (int i = 0; i < n; i++) {
        data[i] = rank + i + number;
        want[i] = sum + (double)size * (i + number);
    }
    mt_buf_write(&buf, 0, data, (size_t)n * sizeof *data);
    MPI_Allreduce(MPI_IN_PLACE, buf.ptr, n, MPI_DOUBLE, MPI_SUM, comm);
    mt_check(mt_buf_differs(&buf, 0, want, (size_t)n * sizeof *want) < 0,
             "communicator %d: the sum of %d is wrong", number, n);
}

/* Duplicates of two sorts, halves, and all ranks backwards. */
static MPI_Comm make(int number)
{
    static MPI_Comm plain;
    MPI_Comm comm;

    if (number == 0)
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &plain);
    if (number % 4 == 0)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (number % 4 == 1)
        MPI_Comm_dup(plain, &comm);
    else if (number % 4 == 2)
        MPI_Comm_split(MPI_COMM_WORLD, mt.rank % 2, 0, &comm);
    else
        MPI_Comm_split(MPI_COMM_WORLD, 0, -mt.rank, &comm);
    return comm;
}

struct state {
    long heap, resident, files; /* bytes, bytes, descriptors */
    uint64_t endpoints, objects;
};

static struct state look(void)
{
    struct mallinfo2 info = mallinfo2();
    struct mt_ucp_counts ucp = {0};
    struct state s = {.heap = (long)(info.uordblks + info.hblkhd)};
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (file && fscanf(file, "%*s %ld", &pages) == 1)
        s.resident = pages * sysconf(_SC_PAGESIZE);
    if (file)
        fclose(file);
    s.files = mt_entries("/proc/self/fd");
    if (mt_counts_present())
        mt_counts_ucp(&ucp);
    s.endpoints = ucp.endpoints;
    s.objects = mt_sim_objects();
    return s;
}

static void compare(const struct state *a, const struct state *b,
                    const char *when)
{
    if (mt.rank == 0)
        printf("%s: heap %+ld, resident %+ld bytes; %ld descriptors, %lu "
               "endpoints, %lu objects on the GPU\n",
               when, b->heap - a->heap, b->resident - a->resident, b->files,
               (unsigned long)b->endpoints, (unsigned long)b->objects);
    mt_check(b->heap - a->heap < 64 << 10, "%s: the heap grew by %ld bytes",
             when, b->heap - a->heap);
    mt_check(b->files == a->files, "%s: %ld descriptors, before %ld", when,
             b->files, a->files);
    mt_check(b->endpoints == a->endpoints, "%s: %lu endpoints, before %lu",
             when, (unsigned long)b->endpoints, (unsigned long)a->endpoints);
    mt_check(b->objects == a->objects, "%s: %lu GPU objects, before %lu", when,
             (unsigned long)b->objects, (unsigned long)a->objects);
}

/* One after the other, each used and freed. */
static void in_turn(int first, int end)
{
    for (int i = first; i < end; i++) {
        MPI_Comm comm = make(i);

        use(comm, SMALL, i);
        use(comm, LARGE, i);
        MPI_Comm_free(&comm);
    }
}

/* Many at once, used in two orders and freed in a third. Returns the heap per
 * communicator. */
static long at_once(int n)
{
    MPI_Comm *comms = mt_alloc((size_t)n * sizeof(MPI_Comm));
    struct state before = look(), after;

    for (int i = 0; i < n; i++) {
        comms[i] = make(i + 1);
        use(comms[i], SMALL, i);
    }
    for (int i = n - 1; i >= 0; i--)
        use(comms[i], LARGE, i);
    after = look();
    mt_check(after.endpoints == before.endpoints, "%d alive: %lu endpoints", n,
             (unsigned long)after.endpoints);
    mt_check(after.files == before.files, "%d alive: %ld descriptors", n,
             after.files);
    for (int i = 0, k = 0; i < n; i++) { /* 7 is no divisor of n */
        MPI_Comm_free(&comms[k]);
        k = (k + 7) % n;
    }
    free(comms);
    return (after.heap - before.heap) / n;
}

/* Large calls on many that stay: what they need they borrow, so that after the
 * first ones neither heap nor pinned memory grows with their number. */
static void big(long most)
{
    MPI_Comm comms[NBIG];
    struct state start = {0}, end;
    uint64_t pinned = 0;
    long each;

    for (int i = 0; i < NBIG; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
        use(comms[i], BIG, i);
        if (i != 3)
            continue;
        start = look();
        pinned = mt_sim_calls("cuMemHostAlloc");
    }
    end = look();
    each = (end.heap - start.heap) / (NBIG - 4);
    if (mt.rank == 0)
        printf("1 MiB: %ld bytes of heap a communicator, %lu pinned blocks\n",
               each, (unsigned long)pinned);
    mt_check(!most || each < most, "1 MiB: %ld bytes a communicator", each);
    mt_check(mt_sim_calls("cuMemHostAlloc") == pinned,
             "1 MiB: %lu blocks pinned, %lu by the first communicators",
             (unsigned long)mt_sim_calls("cuMemHostAlloc"),
             (unsigned long)pinned);
    mt_check(!mt_sim_present() || !most || pinned > 0,
             "1 MiB: staged through no pinned memory");
    for (int i = 0; i < NBIG; i++)
        MPI_Comm_free(&comms[i]);
}

int main(int argc, char **argv)
{
    int total = atoi(mt_option(argc, argv, "total", "10000"));
    int alive = atoi(mt_option(argc, argv, "alive", "1000"));
    long most = atol(mt_option(argc, argv, "bytes", "0")), each;
    int gpu = mt_option(argc, argv, "gpu", NULL) != NULL;
    int serial = total - 2 * alive;
    struct state start, end;

    mt_init();
    if (gpu)
        mt_cuda_open();
    mt_buf_create(&buf, gpu ? MT_DEVICE : MT_HOST, sizeof data, 0);
    MPI_Comm_create_keyval(copy, forget, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &keyval);
    use(MPI_COMM_WORLD, LARGE, 0);
    in_turn(0, 100);
    start = look();
    in_turn(100, serial);
    end = look();
    compare(&start, &end, "one after the other");
    mt_check(copies == serial / 4 && deletes == copies,
             "%d duplicates with the attribute: %d copies, %d deletions",
             serial / 4, copies, deletes);
    each = at_once(alive); /* MPI keeps memory that it once needed */
    start = look();
    at_once(alive);
    if (mt.rank == 0)
        printf("alive: %ld bytes of heap a communicator\n", each);
    if (most)
        mt_check(each < most, "%ld bytes a communicator", each);
    end = look();
    compare(&start, &end, "after many at once");
    big(most);
    mt_buf_destroy(&buf);
    return mt_finish();
}
