/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather.c - MPI_Allgather: bytes, like a broadcast from everybody. Every
 * rank's block has the same signature, whatever types describe it. */
#include "pmpi/front.h"

#include <limits.h>

#include "base/alloc.h"

struct arguments {
    struct cx_pair pair;
    struct cx_buffer block; /* this rank's share of the receive buffer */
    MPI_Count recvcount;
    MPI_Comm comm;
};

struct send_side {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
};

static int erroneous(const struct send_side *send, const void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype)
{
    int in_place = send->buf == MPI_IN_PLACE; /* then its count is ignored */

    if (recvcount < 0 || recvtype == MPI_DATATYPE_NULL ||
        recvbuf == MPI_IN_PLACE)
        return 1;
    if (!in_place && (send->count < 0 || send->type == MPI_DATATYPE_NULL))
        return 1;
    if (recvcount == 0)
        return 0;
    if (recvbuf == NULL && cx_type_basic(recvtype))
        return 1;
    return !in_place && send->buf == NULL && send->count > 0 &&
           cx_type_basic(send->type);
}

static enum cx_status prepare(struct arguments *a, const struct cx_comm *c,
                              const struct send_side *send, void *recvbuf,
                              MPI_Datatype recvtype)
{
    enum cx_status status;
    uintptr_t own;

    a->pair.in_place = send->buf == MPI_IN_PLACE;
    status = cx_buffer_init(&a->pair.recv, recvbuf, a->recvcount * c->peers,
                            recvtype);
    if (status != CX_OK)
        return status;
    own = (uintptr_t)recvbuf +
          (uintptr_t)(c->rank * a->recvcount * a->pair.recv.extent);
    status = cx_buffer_init(&a->block, (void *)own, a->recvcount, recvtype);
    if (status == CX_OK && !a->pair.in_place)
        status =
            cx_buffer_init(&a->pair.send, send->buf, send->count, send->type);
    return status;
}

/* Nothing to move, or for MPI to report: an uncommitted type, blocks of
 * different length, a send buffer that is the rank's own block. */
static int for_mpi(const struct arguments *a, const struct cx_comm *c)
{
    if (!a->pair.recv.usable || (!a->pair.in_place && !a->pair.send.usable))
        return 1;
    if (c->inter) /* the groups may send different amounts, one of them none */
        return a->pair.recv.nbytes == 0 && a->pair.send.nbytes == 0;
    if (a->pair.recv.nbytes == 0)
        return 1;
    return !a->pair.in_place &&
           (a->pair.send.nbytes != a->block.nbytes ||
            (a->pair.send.addr == a->block.addr && a->pair.send.addr != NULL));
}

static int call_mpi(const void *arg, const void *send, void *recv)
{
    const struct arguments *a = arg;

    if (a->recvcount <= INT_MAX && a->pair.send.count <= INT_MAX)
        return cx_mpi.Allgather(send, (int)a->pair.send.count,
                                a->pair.send.type, recv, (int)a->recvcount,
                                a->pair.recv.type, a->comm);
    return cx_mpi.Allgather_c(send, a->pair.send.count, a->pair.send.type, recv,
                              a->recvcount, a->pair.recv.type, a->comm);
}

/* The engine on packed host memory on the side(s) whose type has a layout. */
static enum cx_status packed(struct arguments *a, struct cx_comm *c,
                             struct cx_call *call, struct cx_result *result)
{
    int pack_send = !a->pair.in_place && !cx_buffer_direct(&a->pair.send);
    int pack_recv = !cx_buffer_direct(&a->pair.recv);
    char *src = pack_send ? cx_alloc(call->count, 1) : NULL;
    char *dst = pack_recv ? cx_alloc(call->count, (size_t)c->size) : NULL;
    enum cx_status status = call->failed;

    if ((pack_send && src == NULL) || (pack_recv && dst == NULL))
        status = CX_ERR_NOMEM;
    if (status == CX_OK && pack_send)
        status = cx_buffer_pack(&a->pair.send, src);
    if (status == CX_OK && pack_recv && a->pair.in_place)
        status = cx_buffer_pack(&a->block, dst + (size_t)c->rank * call->count);
    if (pack_send)
        call->src = src;
    else
        call->src_mem = a->pair.send.mem;
    if (pack_recv)
        call->dst = dst;
    else
        call->dst_mem = a->pair.recv.mem;
    call->failed = status; /* joins all the same: the others must hear of it */
    status = cx_collective(c, call, result);
    if (status == CX_OK && pack_recv)
        status = cx_buffer_unpack(&a->pair.recv, dst);
    result->device_bytes = cx_pair_device_bytes(&a->pair);
    cx_free(src);
    cx_free(dst);
    return status;
}

static enum cx_status engine(struct arguments *a, struct cx_comm *c,
                             struct cx_call *call, struct cx_result *result)
{
    enum cx_status status = cx_pair_query(&a->pair);

    if (status == CX_OK && a->pair.in_place && !cx_buffer_direct(&a->pair.recv))
        status = cx_buffer_query(&a->block);
    if (status != CX_OK)
        call->failed = status;
    return packed(a, c, call, result);
}

/* Both sides by the same type and count: as most programs do. */
static int matching(const struct cx_quick *facts, const struct send_side *send)
{
    return send->buf == MPI_IN_PLACE ||
           (send->type == facts->type && send->count == facts->count);
}

static int serve(const struct cx_quick *facts, const struct send_side *send,
                 void *recvbuf, MPI_Comm comm, int *rc)
{
    struct arguments a = {.recvcount = facts->count, .comm = comm};
    struct cx_result result = {0};
    struct cx_entry entry;
    struct cx_call call;
    enum cx_status status;
    enum cx_way way;
    const char *why = NULL;
    int mpi_rc = CX_NOT_CALLED;

    if (erroneous(send, recvbuf, facts->count, facts->type) ||
        !cx_entry_begin(&entry, comm, CX_ALLGATHER))
        return 0;
    status = prepare(&a, entry.c, send, recvbuf, facts->type);
    if (status != CX_OK || for_mpi(&a, entry.c))
        return cx_entry_pass(&entry, CX_ALLGATHER, "nothing to send", 0);
    call = (struct cx_call){
        .func = CX_ALLGATHER,
        .src = a.pair.in_place ? NULL : send->buf,
        .dst = recvbuf,
        .count = a.block.nbytes,
        .dtype = CX_DT_BYTE,
    };
    way = cx_way_of(entry.c, &call, &why, &status);
    if (status == CX_OK &&
        cx_passes(&entry, way, &a.pair.recv,
                  a.pair.in_place ? NULL : &a.pair.send, &why))
        return cx_entry_pass(&entry, CX_ALLGATHER, why, a.pair.recv.nbytes);
    if (status == CX_OK && way == CX_WAY_ENGINE) {
        status = engine(&a, entry.c, &call, &result);
        why = result.algorithm;
        cx_entry_declined(&way, &why, &status);
    }
    if (status == CX_OK && way == CX_WAY_STAGED) {
        status = cx_pair_query(&a.pair);
        result.device_bytes = cx_pair_device_bytes(&a.pair);
        if (status == CX_OK && result.device_bytes == 0) {
            if (a.pair.recv.plain && matching(facts, send))
                cx_quick_learn(&entry, facts, a.block.nbytes,
                               a.pair.recv.nbytes);
            return cx_entry_pass(&entry, CX_ALLGATHER, why, a.pair.recv.nbytes);
        }
        cx_guard_leave(&entry.guard); /* MPI may raise an error and jump */
        if (status == CX_OK)
            status = cx_pair_staged(&a.pair, call_mpi, &a, &mpi_rc);
    }
    *rc = cx_entry_end(&entry, CX_ALLGATHER, way, why, a.pair.recv.nbytes,
                       result.device_bytes, status, mpi_rc);
    return 1;
}

int cx_front_allgather(const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, void *recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm, int *rc)
{
    struct cx_quick facts = {
        .func = CX_ALLGATHER, .type = recvtype, .count = recvcount};
    struct send_side send = {sendbuf, sendcount, sendtype};

    if (matching(&facts, &send) &&
        cx_quick_pass(comm, &facts, sendbuf, recvbuf))
        return 0;
    return serve(&facts, &send, recvbuf, comm, rc);
}
