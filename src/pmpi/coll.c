/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.c - reads a collective's arguments by its row of coll.def.
 *
 * All that is known of a function stands in the table; here is what the words
 * of the table mean. What MPI would refuse is left to MPI: cx_coll_read and its
 * like return 0 then, and the call goes on as it came. */
#include "pmpi/coll.h"

#define NONE                                                                   \
    {                                                                          \
        CX_LAYOUT_NONE, CX_LOCAL, -1, -1, -1, -1                               \
    }
#define ONE(buf, count, type)                                                  \
    {                                                                          \
        CX_LAYOUT_ONE, CX_LOCAL, buf, count, -1, type                          \
    }
#define EACH(whom, buf, count, type)                                           \
    {                                                                          \
        CX_LAYOUT_EACH, CX_##whom, buf, count, -1, type                        \
    }
#define SUM(buf, counts, type)                                                 \
    {                                                                          \
        CX_LAYOUT_SUM, CX_LOCAL, buf, counts, -1, type                         \
    }
#define OWN(buf, counts, type)                                                 \
    {                                                                          \
        CX_LAYOUT_OWN, CX_LOCAL, buf, counts, -1, type                         \
    }
#define VEC(whom, buf, counts, displs, type)                                   \
    {                                                                          \
        CX_LAYOUT_VEC, CX_##whom, buf, counts, displs, type                    \
    }
#define WVEC(whom, buf, counts, displs, types)                                 \
    {                                                                          \
        CX_LAYOUT_WVEC, CX_##whom, buf, counts, displs, types                  \
    }

const struct cx_coll cx_colls[CX_NCOLLS] = {
#define CX_COLL(name, stem, args, iargs, pargs, send, recv, root, comm, flags) \
    {"MPI_" #name, #stem, args, send, recv, root, comm, flags},
#define CX_COLL_SERVED(name, stem, args, iargs, pargs, send, recv, root, comm, \
                       flags)                                                  \
    {"MPI_" #name, #stem, args, send, recv, root, comm, flags},
#define CX_COLL_LOCAL(name, args, send, recv, flags)                           \
    {"MPI_" #name, #name, args, send, recv, -1, -1, flags},
#include "pmpi/coll.def"
};

static int root_is_valid(const struct cx_coll_call *call)
{
    if (call->inter && (call->root == MPI_ROOT || call->root == MPI_PROC_NULL))
        return 1;
    return call->root >= 0 && call->root < call->peers;
}

/* How many neighbours; 0 where the communicator has no topology. */
static int read_neighbors(struct cx_coll_call *call)
{
    int kind = MPI_UNDEFINED, n = 0, weighted;

    if (cx_mpi.Topo_test(call->comm, &kind) != MPI_SUCCESS)
        return 0;
    if (kind == MPI_DIST_GRAPH)
        return cx_mpi.Dist_graph_neighbors_count(call->comm, &call->from,
                                                 &call->to,
                                                 &weighted) == MPI_SUCCESS;
    if (kind == MPI_CART && cx_mpi.Cartdim_get(call->comm, &n) == MPI_SUCCESS)
        call->cart = 1;
    else if (kind != MPI_GRAPH ||
             cx_mpi.Graph_neighbors_count(call->comm, call->rank, &n) !=
                 MPI_SUCCESS)
        return 0;
    call->from = call->to = call->cart ? 2 * n : n;
    return 1;
}

/* What MPI knows of the communicator, from its state where that is at hand. */
static int read_comm(struct cx_coll_call *call)
{
    const struct cx_comm *c = cx_comm_recent(call->comm);

    if (c != NULL) {
        call->rank = c->rank;
        call->size = c->size;
        call->inter = c->inter;
        call->peers = c->peers;
        return 1;
    }
    if (!cx_looks_like_comm(call->comm) ||
        cx_mpi.Comm_rank(call->comm, &call->rank) != MPI_SUCCESS ||
        cx_mpi.Comm_size(call->comm, &call->size) != MPI_SUCCESS ||
        cx_mpi.Comm_test_inter(call->comm, &call->inter) != MPI_SUCCESS)
        return 0;
    call->peers = call->size;
    return !call->inter ||
           cx_mpi.Comm_remote_size(call->comm, &call->peers) == MPI_SUCCESS;
}

int cx_coll_read(struct cx_coll_call *call, enum cx_coll_id id, int large,
                 const cx_reg *args)
{
    const struct cx_coll *coll = &cx_colls[id];

    *call = (struct cx_coll_call){
        .coll = coll, .args = args, .large = large, .comm = MPI_COMM_WORLD};
    if (coll->comm < 0)
        return 1;
    call->comm = (MPI_Comm)args[coll->comm];
    if (!read_comm(call))
        return 0;
    if (coll->flags & CX_COLL_NEIGHBORS)
        return read_neighbors(call);
    if (coll->root < 0)
        return 1;
    call->root = (int)args[coll->root];
    return root_is_valid(call);
}

int cx_coll_in_place(const struct cx_coll_call *call,
                     const struct cx_side *side)
{
    return side->layout != CX_LAYOUT_NONE &&
           (void *)call->args[side->buf] == MPI_IN_PLACE;
}

int cx_coll_uses(const struct cx_coll_call *call, const struct cx_side *side)
{
    const struct cx_coll *coll = call->coll;
    int at_root = side == &coll->recv ? CX_COLL_TO_ROOT : CX_COLL_FROM_ROOT;

    if (side->layout == CX_LAYOUT_NONE || cx_coll_in_place(call, side))
        return 0;
    if (coll->root < 0)
        return 1;
    if (call->inter && coll->flags & CX_COLL_ONE_BUFFER)
        return call->root != MPI_PROC_NULL;
    if (coll->flags & at_root)
        return call->inter ? call->root == MPI_ROOT : call->rank == call->root;
    return !call->inter || call->root >= 0;
}

int cx_coll_nblocks(const struct cx_coll_call *call, const struct cx_side *side)
{
    if (side->layout != CX_LAYOUT_VEC && side->layout != CX_LAYOUT_WVEC)
        return 1;
    if (side->whom == CX_PEERS)
        return call->peers;
    return side->whom == CX_FROM ? call->from : call->to;
}

/* Element `i` of an array of counts; -1 for an array that is not there. */
static MPI_Count count_at(const struct cx_coll_call *call, int arg, int i)
{
    cx_reg array = call->args[arg];

    if (array == 0)
        return -1;
    return call->large ? ((const MPI_Count *)array)[i]
                       : ((const int *)array)[i];
}

static MPI_Count displacement(const struct cx_coll_call *call,
                              const struct cx_side *side, int i)
{
    cx_reg array = call->args[side->displs];

    if (call->large || call->coll->flags & CX_COLL_WIDE)
        return ((const MPI_Aint *)array)[i];
    return ((const int *)array)[i];
}

static MPI_Count total(const struct cx_coll_call *call,
                       const struct cx_side *side)
{
    MPI_Count sum = 0, count;
    int i;

    for (i = 0; i < call->size; i++) {
        count = count_at(call, side->count, i);
        if (count < 0 || __builtin_add_overflow(sum, count, &sum))
            return -1;
    }
    return sum;
}

/* The count of a buffer that is one block; negative: no count. */
static MPI_Count only_count(const struct cx_coll_call *call,
                            const struct cx_side *side)
{
    cx_reg reg = call->args[side->count];
    MPI_Count count = call->large ? (MPI_Count)reg : (int)reg;
    int n = 1;

    if (side->layout == CX_LAYOUT_SUM)
        return total(call, side);
    if (side->layout == CX_LAYOUT_OWN)
        return count_at(call, side->count, call->rank);
    if (side->layout == CX_LAYOUT_EACH && side->whom == CX_LOCAL)
        n = call->size;
    else if (side->layout == CX_LAYOUT_EACH && side->whom == CX_PEERS)
        n = call->peers;
    else if (side->layout == CX_LAYOUT_EACH)
        n = side->whom == CX_FROM ? call->from : call->to;
    return count < 0 || __builtin_mul_overflow(count, n, &count) ? -1 : count;
}

int cx_coll_block(const struct cx_coll_call *call, const struct cx_side *side,
                  int i, MPI_Count extent, struct cx_block *out)
{
    cx_reg type = call->args[side->type];
    int vector = side->layout == CX_LAYOUT_VEC;

    out->offset = 0;
    out->type = (MPI_Datatype)type;
    if (!vector && side->layout != CX_LAYOUT_WVEC) {
        out->count = only_count(call, side);
        return out->count >= 0 && out->type != MPI_DATATYPE_NULL;
    }
    out->count = count_at(call, side->count, i);
    if (out->count < 0 || call->args[side->displs] == 0 || type == 0)
        return 0;
    if (!vector)
        out->type = ((const MPI_Datatype *)type)[i];
    out->offset =
        (ptrdiff_t)(displacement(call, side, i) * (vector ? extent : 1));
    return out->count == 0 || out->type != MPI_DATATYPE_NULL;
}

/* The kind of memory in which the blocks of a side at `base` begin; 0: the
 * arguments cannot be understood. */
static int kind_of(const struct cx_coll_call *call, const struct cx_side *side,
                   cx_reg base, enum cx_mem_kind *kind, int *device)
{
    MPI_Count lb, extent = 0;
    struct cx_block block;
    int i, n = cx_coll_nblocks(call, side);
    /* Blocks round one address lie together, absolute ones anywhere. */
    int each = side->layout == CX_LAYOUT_WVEC || base == 0;

    *kind = CX_MEM_HOST;
    if (side->layout == CX_LAYOUT_VEC &&
        cx_mpi.Type_get_extent_x((MPI_Datatype)call->args[side->type], &lb,
                                 &extent) != MPI_SUCCESS)
        return 0;
    for (i = 0; i < n; i++) {
        if (!cx_coll_block(call, side, i, extent, &block))
            return 0;
        if (block.count == 0)
            continue;
        *kind = cx_pointer_kind_of(base + (uintptr_t)block.offset, block.type,
                                   device);
        if (!each || *kind >= CX_MEM_DEVICE)
            break;
    }
    return 1;
}

const struct cx_side *cx_coll_input(const struct cx_coll_call *call)
{
    const struct cx_coll *coll = call->coll;

    if (!cx_coll_in_place(call, &coll->send))
        return coll->flags & CX_COLL_INOUT ? &coll->recv : NULL;
    return coll->flags & CX_COLL_REDUCES ? &coll->send : &coll->recv;
}

/* Does MPI not look at the buffer on this rank? 0 also where that takes more
 * than a look into the state of the communicator. */
static int is_ignored(const struct cx_coll *coll, const struct cx_side *side,
                      const cx_reg *args)
{
    int at_root = side == &coll->recv ? CX_COLL_TO_ROOT : CX_COLL_FROM_ROOT;
    const struct cx_comm *c;

    if (!(coll->flags & at_root))
        return 0;
    c = cx_comm_recent((MPI_Comm)args[coll->comm]);
    return c != NULL && !c->inter && (int)args[coll->root] != c->rank;
}

static int side_on_host(const struct cx_coll *coll, const struct cx_side *side,
                        const cx_reg *args)
{
    cx_reg base;

    if (side->layout == CX_LAYOUT_NONE)
        return 1;
    if (side->layout == CX_LAYOUT_VEC || side->layout == CX_LAYOUT_WVEC)
        return 0;
    base = args[side->buf];
    if ((void *)base == MPI_IN_PLACE || is_ignored(coll, side, args))
        return 1;
    return cx_type_basic((MPI_Datatype)args[side->type]) &&
           (base == 0 || cx_is_host(base, 1));
}

cx_fn cx_coll_pass(enum cx_coll_id id, enum cx_wrapped which,
                   const cx_reg *args)
{
    const struct cx_coll *coll = &cx_colls[id];

    if (atomic_load_explicit(&cx_behind, memory_order_relaxed) ||
        !side_on_host(coll, &coll->send, args) ||
        !side_on_host(coll, &coll->recv, args))
        return NULL;
    return atomic_load_explicit(&cx_raw_known[which], memory_order_relaxed);
}

int cx_coll_on_gpu(const struct cx_coll_call *call, unsigned kinds,
                   struct cx_found *found)
{
    const struct cx_coll *coll = call->coll;
    const struct cx_side *sides[] = {NULL, NULL, NULL};
    enum cx_mem_kind kind;
    cx_reg base;
    int i;

    if (cx_coll_uses(call, &coll->send))
        sides[0] = &coll->send;
    if (cx_coll_uses(call, &coll->recv)) {
        sides[1] = &coll->recv;
        sides[2] = cx_coll_input(call);
    }
    *found = (struct cx_found){.device = -1};
    for (i = 0; i < 3; i++) {
        if (sides[i] == NULL)
            continue;
        base = call->args[i == 0 ? coll->send.buf : coll->recv.buf];
        if (!kind_of(call, sides[i], base, &kind, &found->device))
            return 0;
        if (kinds >> kind & 1 && !found->yes) {
            found->yes = 1;
            found->is_recv = i > 0;
            return 1;
        }
    }
    return 1;
}
