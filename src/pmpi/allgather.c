/* SPDX-License-Identifier: BSD-3-Clause */
/* allgather.c - MPI_Allgather: bytes, like a broadcast from everybody. Every
 * rank's block has the same signature, whatever types describe it. */
#include "pmpi/front.h"

#include <limits.h>

#include "base/alloc.h"

struct arguments {
    struct cx_buffer send, block, recv; /* block: recv's one-rank share */
    int in_place;
    MPI_Count recvcount;
    MPI_Comm comm;
};

static int erroneous(const void *sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, const void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype)
{
    int in_place = sendbuf == MPI_IN_PLACE; /* then its count is ignored */

    if (recvcount < 0 || recvtype == MPI_DATATYPE_NULL ||
        recvbuf == MPI_IN_PLACE)
        return 1;
    if (!in_place && (sendcount < 0 || sendtype == MPI_DATATYPE_NULL))
        return 1;
    if (recvcount == 0)
        return 0;
    if (recvbuf == NULL && cx_type_basic(recvtype))
        return 1;
    return !in_place && sendbuf == NULL && cx_type_basic(sendtype);
}

static enum cx_status prepare(struct arguments *a, const struct cx_comm *c,
                              const void *sendbuf, MPI_Count sendcount,
                              MPI_Datatype sendtype, void *recvbuf,
                              MPI_Datatype recvtype)
{
    enum cx_status status;
    uintptr_t own;

    a->in_place = sendbuf == MPI_IN_PLACE;
    status =
        cx_buffer_init(&a->recv, recvbuf, a->recvcount * c->peers, recvtype);
    if (status != CX_OK)
        return status;
    own = (uintptr_t)recvbuf +
          (uintptr_t)(c->rank * a->recvcount * a->recv.extent);
    status = cx_buffer_init(&a->block, (void *)own, a->recvcount, recvtype);
    if (status == CX_OK && !a->in_place)
        status = cx_buffer_init(&a->send, sendbuf, sendcount, sendtype);
    return status;
}

/* Nothing to move, or for MPI to report: an uncommitted type, blocks of
 * different length, a send buffer that is the rank's own block. */
static int for_mpi(const struct arguments *a, const struct cx_comm *c)
{
    if (!a->recv.usable || (!a->in_place && !a->send.usable))
        return 1;
    if (c->inter) /* the groups may send different amounts, one of them none */
        return a->recv.nbytes == 0 && a->send.nbytes == 0;
    if (a->recv.nbytes == 0)
        return 1;
    return !a->in_place &&
           (a->send.nbytes != a->block.nbytes ||
            (a->send.addr == a->block.addr && a->send.addr != NULL));
}

static enum cx_status query(struct arguments *a)
{
    enum cx_status status = cx_buffer_query(&a->recv);

    a->block.mem = a->recv.mem;
    if (status == CX_OK && !a->in_place)
        status = cx_buffer_query(&a->send);
    return status;
}

static uint64_t device_bytes(const struct arguments *a)
{
    uint64_t total = 0;

    if (cx_mem_on_gpu(&a->recv.mem))
        total += a->recv.nbytes;
    if (!a->in_place && cx_mem_on_gpu(&a->send.mem))
        total += a->send.nbytes;
    return total;
}

static int call_mpi(const struct arguments *a, const void *send, void *recv)
{
    if (a->in_place)
        send = MPI_IN_PLACE;
    if (a->recvcount <= INT_MAX && a->send.count <= INT_MAX)
        return cx_mpi.Allgather(send, (int)a->send.count, a->send.type, recv,
                                (int)a->recvcount, a->recv.type, a->comm);
    return cx_mpi.Allgather_c(send, a->send.count, a->send.type, recv,
                              a->recvcount, a->recv.type, a->comm);
}

static enum cx_status staged(const struct arguments *a, int *mpi_rc)
{
    struct cx_mirror send = {0}, recv = {0};
    enum cx_status status, closed;

    status = cx_mirror_open(&recv, &a->recv, a->in_place);
    if (status == CX_OK && !a->in_place)
        status = cx_mirror_open(&send, &a->send, 1);
    if (status == CX_OK)
        *mpi_rc = call_mpi(a, send.addr, recv.addr);
    closed = cx_mirror_close(&recv, &a->recv,
                             status == CX_OK && *mpi_rc == MPI_SUCCESS);
    if (!a->in_place && cx_mirror_close(&send, &a->send, 0) != CX_OK)
        closed = CX_ERR_GPU;
    return status != CX_OK ? status : closed;
}

/* The engine on packed host memory on the side(s) whose type has a layout. */
static enum cx_status packed(struct arguments *a, struct cx_comm *c,
                             struct cx_call *call, struct cx_result *result)
{
    int pack_send = !a->in_place && !a->send.dense, pack_recv = !a->recv.dense;
    char *src = pack_send ? cx_alloc(call->count, 1) : NULL;
    char *dst = pack_recv ? cx_alloc(call->count, (size_t)c->size) : NULL;
    enum cx_status status = query(a);

    if ((pack_send && src == NULL) || (pack_recv && dst == NULL))
        status = CX_ERR_NOMEM;
    if (status == CX_OK && pack_send)
        status = cx_buffer_pack(&a->send, src);
    if (status == CX_OK && pack_recv && a->in_place)
        status = cx_buffer_pack(&a->block, dst + (size_t)c->rank * call->count);
    if (pack_send)
        call->src = src;
    if (pack_recv)
        call->dst = dst;
    call->failed = status; /* joins all the same: the others must hear of it */
    status = cx_engine()->collective(c->team, call, result);
    if (status == CX_OK && pack_recv)
        status = cx_buffer_unpack(&a->recv, dst);
    result->device_bytes = device_bytes(a);
    cx_free(src);
    cx_free(dst);
    return status;
}

static enum cx_status engine(struct arguments *a, struct cx_comm *c,
                             struct cx_call *call, struct cx_result *result)
{
    if (a->recv.dense && (a->in_place || a->send.dense))
        return cx_engine()->collective(c->team, call, result);
    return packed(a, c, call, result);
}

int cx_front_allgather(const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, void *recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm, int *rc)
{
    struct arguments a = {.recvcount = recvcount, .comm = comm};
    struct cx_result result = {0};
    struct cx_entry entry;
    struct cx_call call;
    enum cx_status status;
    enum cx_way way;
    const char *why = NULL;
    int mpi_rc = MPI_SUCCESS;

    if (erroneous(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype) ||
        !cx_entry_begin(&entry, comm))
        return 0;
    status =
        prepare(&a, entry.c, sendbuf, sendcount, sendtype, recvbuf, recvtype);
    if (status != CX_OK || for_mpi(&a, entry.c))
        return cx_entry_pass(&entry, CX_ALLGATHER, "nothing to send", 0);
    call = (struct cx_call){
        .func = CX_ALLGATHER,
        .src = a.in_place ? NULL : sendbuf,
        .dst = recvbuf,
        .count = a.block.nbytes,
        .dtype = CX_DT_BYTE,
    };
    way = cx_way_of(entry.c, &call, &why, &status);
    if (status == CX_OK &&
        cx_passes(&entry, way, &a.recv, a.in_place ? NULL : &a.send, &why))
        return cx_entry_pass(&entry, CX_ALLGATHER, why, a.recv.nbytes);
    if (status == CX_OK && way == CX_WAY_ENGINE) {
        status = engine(&a, entry.c, &call, &result);
        why = result.algorithm;
        cx_entry_declined(&way, &why, &status);
    }
    if (status == CX_OK && way == CX_WAY_STAGED) {
        status = query(&a);
        result.device_bytes = device_bytes(&a);
        if (status == CX_OK && result.device_bytes == 0)
            return cx_entry_pass(&entry, CX_ALLGATHER, why, a.recv.nbytes);
        cx_guard_leave(&entry.guard); /* MPI may raise an error and jump */
        if (status == CX_OK)
            status = staged(&a, &mpi_rc);
    }
    *rc = cx_entry_end(&entry, CX_ALLGATHER, way, why, a.recv.nbytes,
                       result.device_bytes, status, mpi_rc);
    return 1;
}
