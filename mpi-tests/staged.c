/* SPDX-License-Identifier: BSD-3-Clause */
/* staged.c - the collectives that Coax stages, on device buffers, against the
 * MPI library's own result on host buffers: all forms, layouts, places and
 * topologies, roots, and mixes of memory over the ranks. Buffers are compared
 * whole, so that a byte between blocks that changes is found.
 *
 * staged [--old], with the counting preloads, on the simulated GPU.
 *   --old  behind Coax is an MPI without large-count forms; no preloads */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"
#include "shim_buffers.h"
#include "staged.h"

#define CAP 8192
#define REGULAR 5

enum { PACKED, PADDED, REVERSED, NLAYOUTS };
enum { ALL, SEND_ONLY, RECV_ONLY, EVEN_RANKS, MANAGED, NMIXES };

static int old; /* the MPI has no large-count forms: Coax makes them up */
static MPI_Datatype holey;
static MPI_Op user_op;
enum { HOST, DEVICE, BOTH, REFERENCE, NBUFS };
static struct mt_buf send[NBUFS], recv[NBUFS];
static unsigned char *pattern;
static long ran;

static void counts(struct mt_buffer_counts *out)
{
    static mt_buffer_counts_fn get;

    memset(out, 0, sizeof *out);
    if (old)
        return;
    if (!get)
        *(void **)&get = dlsym(RTLD_DEFAULT, "mt_shim_buffers_counts");
    if (!get)
        mt_die("run with the counting preloads");
    get(out);
}

/* Neither commutative nor blind to what memory it is given. */
static void combine(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const unsigned *a = in;
    unsigned *b = inout;

    (void)type;
    for (int i = 0; i < *n; i++)
        b[i] = 3 * a[i] + b[i];
}

static int least; /* elements in a block */

/* Elements that rank `from` sends to rank `to`; symmetric. */
static int pair_count(int from, int to)
{
    return least + (from + to) % 4;
}

/* Elements of a rank's block, the same for all. */
static int rank_count(int rank)
{
    return rank < 0 ? 2 : least + rank % 3;
}

static void place(int layout, int n, const int *count, int *displs)
{
    for (int i = 0, at = 0; i < n; i++) {
        displs[i] = layout == PACKED ? at : i * 6;
        if (layout == REVERSED)
            displs[i] = (n - 1 - i) * 5;
        at += count[i];
    }
}

/* Ranks of the peers in each direction; MPI_PROC_NULL at a border. */
struct peers {
    int nto, nfrom, me;
    int to[MAX_BLOCKS], from[MAX_BLOCKS];
};

static void prepare(struct job *j, const struct function *f,
                    const struct peers *peers, int layout, int derived)
{
    MPI_Datatype type = derived ? holey : MPI_INT;
    MPI_Aint lb, extent;

    j->stype = j->rtype = type;
    MPI_Type_get_extent(type, &lb, &extent);
    memset(j->scounts, 0, sizeof j->scounts);
    memset(j->rcounts, 0, sizeof j->rcounts);
    for (int i = 0; i < peers->nto; i++)
        j->scounts[i] = peers->to[i] == MPI_PROC_NULL
                            ? 2
                            : pair_count(peers->me, peers->to[i]);
    for (int i = 0; i < peers->nfrom; i++)
        j->rcounts[i] = peers->from[i] == MPI_PROC_NULL
                            ? 2
                            : pair_count(peers->from[i], peers->me);
    j->sn = j->rn = REGULAR;
    if (f->flags & TO_ROOT || strstr(f->name, "allgatherv") ||
        strstr(f->name, "Allgatherv") || !strcmp(f->name, "Reduce_scatter"))
        for (int i = 0; i < peers->nfrom; i++)
            j->rcounts[i] = rank_count(peers->from[i]);
    if (f->flags & FROM_ROOT)
        for (int i = 0; i < peers->nto; i++)
            j->scounts[i] = rank_count(peers->to[i]);
    if (strstr(f->name, "therv"))
        j->sn = rank_count(peers->me);
    if (strstr(f->name, "tterv"))
        j->rn = rank_count(peers->me);
    place(layout, peers->nto, j->scounts, j->sdispls);
    place(layout, peers->nfrom, j->rcounts, j->rdispls);
    for (int i = 0; i < MAX_BLOCKS; i++) {
        j->sbytes[i] = j->sdispls[i] * (int)extent;
        j->rbytes[i] = j->rdispls[i] * (int)extent;
        j->stypes[i] = j->rtypes[i] = type;
    }
    job_widen(j);
}

static void kinds_of(int mix, int *s, int *r)
{
    *s = *r = HOST;
    if (mix == ALL || (mix == EVEN_RANKS && mt.rank % 2 == 0))
        *s = *r = DEVICE;
    if (mix == SEND_ONLY)
        *s = DEVICE;
    if (mix == RECV_ONLY)
        *r = DEVICE;
    if (mix == MANAGED)
        *s = *r = BOTH;
}

static void fill(struct mt_buf *s, struct mt_buf *r, uint64_t seed)
{
    for (size_t i = 0; i < CAP / 8; i++)
        ((uint64_t *)pattern)[i] = mt_hash(seed + (uint64_t)mt.rank, i);
    mt_buf_write(s, 0, pattern, CAP);
    for (size_t i = 0; i < CAP / 8; i++)
        ((uint64_t *)pattern)[i] = mt_hash(~seed - (uint64_t)mt.rank, i);
    mt_buf_write(r, 0, pattern, CAP);
}

/* Does this rank's call use its buffer? */
static int significant(const struct function *f, const struct job *j,
                       int is_recv)
{
    int only_root = is_recv ? TO_ROOT : FROM_ROOT;
    int rank, inter, at_root;

    if (!(f->flags & (TO_ROOT | FROM_ROOT)))
        return 1;
    MPI_Comm_rank(j->comm, &rank);
    MPI_Comm_test_inter(j->comm, &inter);
    at_root = inter ? j->root == MPI_ROOT : rank == j->root;
    if (inter && j->root == MPI_PROC_NULL)
        return 0;
    return f->flags & only_root ? at_root : !inter || !at_root;
}

/* One side as the call gets it: the buffer, MPI_IN_PLACE, or what nobody may
 * look at: the buffer all the same, or no address at all. */
static void *given(const struct function *f, const struct job *j, int in_place,
                   int is_recv, void *ptr)
{
    int only_root = f->flags & (TO_ROOT | FROM_ROOT);
    int rank;

    if (!significant(f, j, is_recv))
        return j->large ? ptr : (void *)16;
    MPI_Comm_rank(j->comm, &rank);
    if (in_place && is_recv == !!(f->flags & FROM_ROOT) &&
        (!only_root || rank == j->root))
        return MPI_IN_PLACE;
    return ptr;
}

static void run(const struct function *f, const struct job *j, int in_place,
                int mix, const char *what)
{
    struct mt_buffer_counts before, after;
    struct job reference = *j;
    struct mt_buf *s, *r;
    int kinds[2], rc[2];
    long long at;

    kinds_of(mix, &kinds[0], &kinds[1]);
    s = &send[kinds[0]];
    r = &recv[kinds[1]];
    fill(&send[REFERENCE], &recv[REFERENCE], (uint64_t)ran);
    fill(s, r, (uint64_t)ran);
    ran++;
    if (old)
        reference.large = 0;
    rc[0] = f->call(&reference, given(f, j, in_place, 0, send[REFERENCE].ptr),
                    given(f, j, in_place, 1, recv[REFERENCE].ptr));
    counts(&before);
    rc[1] = f->call(j, given(f, j, in_place, 0, s->ptr),
                    given(f, j, in_place, 1, r->ptr));
    counts(&after);
    at = mt_buf_differs(r, 0, recv[REFERENCE].ptr, CAP);
    mt_check(at < 0, "%s%s %s: receive buffer at byte %lld", f->name,
             j->large ? "_c" : "", what, at);
    at = mt_buf_differs(s, 0, send[REFERENCE].ptr, CAP);
    mt_check(at < 0, "%s%s %s: send buffer at byte %lld", f->name,
             j->large ? "_c" : "", what, at);
    mt_check(rc[0] == MPI_SUCCESS && rc[1] == MPI_SUCCESS,
             "%s %s: errors %d %d", f->name, what, rc[0], rc[1]);
    mt_check(old || after.calls == before.calls + 1,
             "%s %s: %d calls reached MPI", f->name, what,
             (int)(after.calls - before.calls));
    /* Where there is nothing to send, MPI may get any pointer. */
    mt_check(!least || !significant(f, j, 0) || !significant(f, j, 1) ||
                 after.devices == before.devices,
             "%s %s: MPI got device memory", f->name, what);
}

/* All places, mixes, layouts, types and forms on one communicator. */
static void sweep(const struct function *f, struct job *j,
                  const struct peers *peers, const char *comm)
{
    /* MPICH 4.0.2 alone loses a block of the plain form on a graph. */
    int lossy =
        !strcmp(f->name, "Neighbor_alltoallw") && !strcmp(comm, "a graph");
    int inter, places;
    char what[80];

    MPI_Comm_test_inter(j->comm, &inter);
    places = f->flags & IN_PLACE && !inter ? 2 : 1;
    for (int layout = 0; layout < NLAYOUTS; layout++) {
        int derived = layout == PADDED && !(f->flags & REDUCES);

        least = layout != PACKED;
        j->op = layout == PADDED ? user_op : MPI_SUM;
        prepare(j, f, peers, layout, derived);
        for (int mix = 0; mix < NMIXES; mix++)
            for (int in_place = 0; in_place < places; in_place++) {
                j->large = (layout + mix + in_place + j->root) & 1;
                snprintf(what, sizeof what,
                         "on %s, root %d, layout %d, mix %d%s", comm, j->root,
                         layout, mix, in_place ? ", in place" : "");
                j->large |= lossy;
                run(f, j, in_place, mix, what);
                j->large = !j->large || lossy;
                if (mix == ALL)
                    run(f, j, in_place, mix, what);
            }
    }
}

static void all_to_all(struct peers *peers, int n, int me)
{
    peers->nto = peers->nfrom = n;
    peers->me = me;
    for (int i = 0; i < n; i++)
        peers->to[i] = peers->from[i] = i;
}

static void on_world(const struct function *f)
{
    struct job j = {.comm = MPI_COMM_WORLD};
    struct peers peers;
    int roots = f->flags & (TO_ROOT | FROM_ROOT) ? mt.size : 1;

    all_to_all(&peers, mt.size, mt.rank);
    for (j.root = 0; j.root<roots; j.root += roots> 2 ? roots - 1 : 1)
        sweep(f, &j, &peers, "world");
}

static void on_inter(const struct function *f, MPI_Comm inter, int group)
{
    struct job j = {.comm = inter};
    struct peers peers;
    int rank, remote, size, rooted = f->flags & (TO_ROOT | FROM_ROOT);

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_size(inter, &size);
    MPI_Comm_remote_size(inter, &remote);
    all_to_all(&peers, remote, rank);
    if (!strcmp(f->name, "Reduce_scatter"))
        all_to_all(&peers, size, rank);
    for (int side = 0; side < (rooted ? 2 : 1); side++) {
        if (rooted)
            j.root = group != side ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
        if (!strncmp(f->name, "Reduce_scatter", 14) && size != remote)
            continue; /* the groups' counts must have one sum */
        sweep(f, &j, &peers, "two groups");
    }
}

static void on_grid(const struct function *f, int periodic)
{
    int dims[2] = {0, 0}, periods[2] = {periodic, 0};
    struct job j = {0};
    struct peers peers = {.nto = 4, .nfrom = 4};

    MPI_Dims_create(mt.size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &j.comm);
    MPI_Comm_rank(j.comm, &peers.me);
    for (int d = 0; d < 2; d++)
        MPI_Cart_shift(j.comm, d, 1, &peers.from[2 * d],
                       &peers.from[2 * d + 1]);
    memcpy(peers.to, peers.from, sizeof peers.to);
    sweep(f, &j, &peers, periodic ? "a torus" : "a grid");
    MPI_Comm_free(&j.comm);
}

/* Each rank sends to the next ones: rank r to r+1 .. r+1+r%2. */
static void on_graph(const struct function *f)
{
    struct job j = {0};
    struct peers peers = {.me = mt.rank};

    for (int r = 0; r < mt.size; r++)
        for (int k = 0; k <= r % 2; k++) {
            int to = (r + 1 + k) % mt.size;

            if (r == mt.rank)
                peers.to[peers.nto++] = to;
            if (to == mt.rank)
                peers.from[peers.nfrom++] = r;
        }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, peers.nfrom, peers.from,
                                   MPI_UNWEIGHTED, peers.nto, peers.to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &j.comm);
    sweep(f, &j, &peers, "a graph");
    MPI_Comm_free(&j.comm);
}

int main(int argc, char **argv)
{
    MPI_Comm half, inter = MPI_COMM_NULL;
    MPI_Datatype vector;
    int group;

    old = mt_option(argc, argv, "old", NULL) != NULL;
    mt_init();
    mt_cuda_open();
    pattern = mt_alloc(CAP);
    for (int k = 0; k < NBUFS; k++) {
        enum mt_kind kind[] = {MT_HOST, MT_DEVICE, MT_MANAGED, MT_HOST};

        mt_buf_create(&send[k], kind[k], CAP, 4);
        mt_buf_create(&recv[k], kind[k], CAP, 12);
        mt_buf_arm(&send[k], CAP, 0);
        mt_buf_arm(&recv[k], CAP, 0);
    }
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_create_resized(vector, 0, 20, &holey);
    MPI_Type_commit(&holey);
    MPI_Op_create(combine, 0, &user_op);
    group = mt.rank % 2;
    if (mt.size > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, group, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !group, 1, &inter);
        MPI_Comm_free(&half);
    }
    for (int i = 0; i < nfunctions; i++) {
        const struct function *f = &functions[i];

        if (f->flags & NEIGHBORS) {
            on_grid(f, 0);
            on_grid(f, 1);
            if (!old || strcmp(f->name, "Neighbor_alltoallw"))
                on_graph(f);
            continue;
        }
        on_world(f);
        if (inter != MPI_COMM_NULL && !(f->flags & NO_INTER))
            on_inter(f, inter, group);
    }
    for (int k = 0; k < NBUFS; k++)
        mt_check(mt_buf_guarded(&send[k], CAP) && mt_buf_guarded(&recv[k], CAP),
                 "guard bytes are gone");
    /* 13 functions on the world, 6 on three topologies */
    mt_check(ran >= 13 * 18 + 5 * 3 * 18, "only %ld calls", ran);
    MPI_Type_free(&vector);
    MPI_Type_free(&holey);
    MPI_Op_free(&user_op);
    if (inter != MPI_COMM_NULL)
        MPI_Comm_free(&inter);
    return mt_finish();
}
