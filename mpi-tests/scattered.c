/* SPDX-License-Identifier: BSD-3-Clause */
/* scattered.c - one buffer argument in several memories: a type of byte
 * displacements names blocks in host variables, on the stack and in device
 * allocations, on one rank; the others pass one plain array.
 *
 * scattered           every mix; on the simulated GPU, with two devices. Every
 *                     block has guards, blocks with a stride have holes, and
 *                     the copies are counted
 * scattered --limit   no file may grow: an error, and no signal
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define MOST 6000
#define MAX_BLOCKS 5
#define HOLE 0x3c

enum place { STACK, HEAP, PINNED, MANAGED, DEVICE0, DEVICE1 };

/* Which memories together; each case has its ends elsewhere. */
static const struct {
    const char *name;
    int n;
    enum place place[MAX_BLOCKS];
} cases[] = {
    {"two allocations of one device", 2, {DEVICE0, DEVICE0}},
    {"four allocations of one device", 4, {DEVICE0, DEVICE0, DEVICE0, DEVICE0}},
    {"two devices", 3, {DEVICE0, DEVICE1, DEVICE0}},
    {"device between host ends", 3, {HEAP, DEVICE0, STACK}},
    {"managed between host ends", 3, {HEAP, MANAGED, STACK}},
    {"host and device", 2, {HEAP, DEVICE0}},
    {"device and stack", 2, {DEVICE1, STACK}},
    {"everything", 5, {PINNED, DEVICE1, STACK, MANAGED, DEVICE0}},
    {"host only", 3, {HEAP, STACK, PINNED}},
};
#define NCASES ((int)(sizeof cases / sizeof cases[0]))

/* How the blocks are named. */
enum flavour { ABSOLUTE, RELATIVE, STRIDED, EQUAL, NESTED, NFLAVOURS };

struct block {
    struct mt_buf buf; /* not of the stack's */
    unsigned char *at;
    int device;
};

struct set {
    int n, ints; /* blocks, and ints of each */
    int step;    /* from one int to the next, in ints */
    struct block block[MAX_BLOCKS];
};

static unsigned char *stack_at; /* MT_GUARD bytes round it */
static int data[MOST * MAX_BLOCKS];
static long ncases;

static size_t extent(const struct set *set)
{
    return ((size_t)(set->ints - 1) * (size_t)set->step + 1) * sizeof(int);
}

static void open_block(struct block *b, enum place place, size_t nbytes)
{
    static const enum mt_kind kinds[] = {[HEAP] = MT_HOST,
                                         [PINNED] = MT_PINNED,
                                         [MANAGED] = MT_MANAGED,
                                         [DEVICE0] = MT_DEVICE,
                                         [DEVICE1] = MT_DEVICE};

    b->device = place == DEVICE1;
    if (place == STACK) { /* as a host buffer that is not freed */
        b->buf =
            (struct mt_buf){.kind = MT_HOST, .cap = nbytes, .ptr = stack_at};
        b->at = stack_at;
        return;
    }
    mt_cuda_ok(cuda.SetDevice(b->device), "cudaSetDevice");
    mt_buf_create(&b->buf, kinds[place], nbytes, 8 * (size_t)place);
    mt_cuda_ok(cuda.SetDevice(0), "cudaSetDevice");
    b->at = b->buf.ptr;
}

static void open_set(struct set *set, int which, int ints, int step)
{
    set->n = cases[which].n;
    set->ints = ints;
    set->step = step;
    for (int i = 0; i < set->n; i++)
        open_block(&set->block[i], cases[which].place[i], extent(set));
}

static void close_set(struct set *set)
{
    for (int i = 0; i < set->n; i++) {
        if (set->block[i].buf.alloc)
            mt_buf_destroy(&set->block[i].buf);
    }
}

/* Holes and guards, and the ints first.. in order of the blocks. */
static void write_set(struct set *set, int first)
{
    unsigned char *bytes = mt_alloc(extent(set));

    for (int i = 0; i < set->n; i++) {
        memset(bytes, HOLE, extent(set));
        for (int k = 0; k < set->ints; k++) {
            int value = first + i * set->ints + k;

            memcpy(bytes + (size_t)k * (size_t)set->step * sizeof value, &value,
                   sizeof value);
        }
        mt_buf_arm(&set->block[i].buf, extent(set), 0);
        mt_buf_write(&set->block[i].buf, 0, bytes, extent(set));
    }
    free(bytes);
}

static void check_set(const struct set *set, int first, const char *what)
{
    unsigned char *want = mt_alloc(extent(set));

    for (int i = 0; i < set->n; i++) {
        memset(want, HOLE, extent(set));
        for (int k = 0; k < set->ints; k++) {
            int value = first + i * set->ints + k;

            memcpy(want + (size_t)k * (size_t)set->step * sizeof value, &value,
                   sizeof value);
        }
        mt_check(mt_buf_differs(&set->block[i].buf, 0, want, extent(set)) < 0,
                 "%s: block %d of %d ints is wrong", what, i, set->ints);
        mt_check(mt_buf_guarded(&set->block[i].buf, extent(set)),
                 "%s: guard bytes of block %d are gone", what, i);
    }
    free(want);
}

/* Hindexed, relative to `base`; each block by `part` and its count. */
static MPI_Datatype indexed(const struct set *set, MPI_Aint base,
                            MPI_Datatype part, int count, int first, int n)
{
    int lengths[MAX_BLOCKS];
    MPI_Aint at[MAX_BLOCKS];
    MPI_Datatype type;

    for (int i = 0; i < n; i++) {
        lengths[i] = count;
        MPI_Get_address(set->block[first + i].at, &at[i]);
        at[i] -= base;
    }
    MPI_Type_create_hindexed(n, lengths, at, part, &type);
    return type;
}

static MPI_Datatype structured(const struct set *set, MPI_Datatype part)
{
    MPI_Datatype types[MAX_BLOCKS], type;
    int lengths[MAX_BLOCKS];
    MPI_Aint at[MAX_BLOCKS];

    for (int i = 0; i < set->n; i++) {
        lengths[i] = 1;
        types[i] = part;
        MPI_Get_address(set->block[i].at, &at[i]);
    }
    MPI_Type_create_struct(set->n, lengths, at, types, &type);
    return type;
}

/* Types of types: a struct of the first block and of all the others. */
static MPI_Datatype nested(const struct set *set)
{
    MPI_Datatype one, two, pair[2], type;
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {0, 0};

    one = indexed(set, 0, MPI_INT, set->ints, 0, 1);
    two = indexed(set, 0, MPI_INT, set->ints, 1, set->n - 1);
    MPI_Type_dup(one, &pair[0]);
    MPI_Type_contiguous(1, two, &pair[1]);
    MPI_Type_create_struct(2, lengths, at, pair, &type);
    for (int i = 0; i < 2; i++)
        MPI_Type_free(&pair[i]);
    MPI_Type_free(&one);
    MPI_Type_free(&two);
    return type;
}

/* The set as one element of a committed type at `*base`. */
static MPI_Datatype describe(const struct set *set, enum flavour flavour,
                             void **base)
{
    MPI_Datatype part = MPI_DATATYPE_NULL, type;
    MPI_Aint first;

    *base = MPI_BOTTOM;
    switch (flavour) {
    case RELATIVE:
        *base = set->block[0].at;
        MPI_Get_address(*base, &first);
        type = indexed(set, first, MPI_INT, set->ints, 0, set->n);
        break;
    case STRIDED:
        MPI_Type_vector(set->ints, 1, set->step, MPI_INT, &part);
        type = structured(set, part);
        break;
    case EQUAL:
        MPI_Type_contiguous(set->ints, MPI_INT, &part);
        type = indexed(set, 0, part, 1, 0, set->n);
        break;
    case NESTED:
        type = nested(set);
        break;
    default:
        type = indexed(set, 0, MPI_INT, set->ints, 0, set->n);
    }
    if (part != MPI_DATATYPE_NULL)
        MPI_Type_free(&part);
    MPI_Type_commit(&type);
    return type;
}

static void broadcast(int which, enum flavour flavour, int ints, int root)
{
    struct mt_copies before, after;
    int total = cases[which].n * ints, special = mt.size - 1, bad = 0;
    MPI_Datatype type;
    struct set set;
    void *base;

    if (mt.rank != special) {
        for (int i = 0; i < total; i++)
            data[i] = mt.rank == root ? 100 + i : -1;
        MPI_Bcast(data, total, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < total; i++)
            bad += data[i] != 100 + i;
        mt_check(bad == 0, "%s: %d ints of the plain array are wrong",
                 cases[which].name, bad);
        return;
    }
    open_set(&set, which, ints, flavour == STRIDED ? 3 : 1);
    write_set(&set, root == special ? 100 : -7000);
    type = describe(&set, flavour, &base);
    mt_sim_copies(&before);
    MPI_Bcast(base, 1, type, root, MPI_COMM_WORLD);
    mt_sim_copies(&after);
    check_set(&set, 100, cases[which].name);
    mt_check(after.h2d_copies - before.h2d_copies + after.d2h_copies -
                     before.d2h_copies <=
                 (uint64_t)set.n,
             "%s: %llu copies for %d blocks", cases[which].name,
             (unsigned long long)(after.h2d_copies - before.h2d_copies +
                                  after.d2h_copies - before.d2h_copies),
             set.n);
    MPI_Type_free(&type);
    close_set(&set);
}

/* Every rank sends from a set, all receive into a plain array; or in place from
 * there, into sets. */
static void gather(int which, enum flavour flavour, int ints)
{
    int total = cases[which].n * ints, bad = 0;
    MPI_Datatype type;
    struct set set;
    void *base;
    int *all = mt_alloc((size_t)total * (size_t)mt.size * sizeof *all);

    open_set(&set, which, ints, flavour == STRIDED ? 3 : 1);
    write_set(&set, 5 + mt.rank * total);
    type = describe(&set, flavour, &base);
    MPI_Allgather(base, 1, type, all, total, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < total * mt.size; i++)
        bad += all[i] != 5 + i;
    mt_check(bad == 0, "%s: %d ints of allgather are wrong", cases[which].name,
             bad);
    check_set(&set, 5 + mt.rank * total, cases[which].name);
    MPI_Type_free(&type);
    close_set(&set);
    free(all);
}

static void limited(void)
{
    const struct rlimit limit = {1 << 20, 1 << 20};
    MPI_Datatype type;
    struct set set;
    void *base;
    int rc;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    /* The network makes its files. */
    MPI_Bcast(data, 2 * MOST, MPI_INT, 0, MPI_COMM_WORLD);
    if (mt.rank == 0) {
        rc = MPI_Bcast(data, 2 * MOST, MPI_INT, 0, MPI_COMM_WORLD);
    } else {
        open_set(&set, 6, MOST, 1); /* device and stack */
        write_set(&set, 3);
        setrlimit(RLIMIT_FSIZE, &limit);
        type = describe(&set, ABSOLUTE, &base);
        rc = MPI_Bcast(base, 1, type, 0, MPI_COMM_WORLD);
        check_set(&set, 3, "after an error");
        MPI_Type_free(&type);
        close_set(&set);
    }
    /* The data had arrived: nobody else need hear of it. */
    mt_check((rc != MPI_SUCCESS) == (mt.rank == 1), "error %d", rc);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {9, MOST - 1};
    unsigned char stack[MOST * 3 * sizeof(int) + 2 * MT_GUARD];

    mt_init();
    mt_cuda_open();
    stack_at = stack + MT_GUARD;
    if (mt_option(argc, argv, "limit", NULL)) {
        limited();
        return mt_finish();
    }
    for (int which = 0; which < NCASES; which++) {
        for (int flavour = 0; flavour < NFLAVOURS; flavour++) {
            for (int s = 0; s < 2; s++) {
                for (int root = 0; root < 2; root++)
                    broadcast(which, flavour, sizes[s],
                              root == 0 ? 0 : mt.size - 1);
                gather(which, flavour, sizes[s]);
                ncases += 3;
            }
        }
    }
    mt_check(ncases == 3L * 2 * NFLAVOURS * NCASES, "%ld cases", ncases);
    return mt_finish();
}
