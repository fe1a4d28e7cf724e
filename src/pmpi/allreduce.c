/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.c - MPI_Allreduce: same count, type and op on all ranks, so all of
 * them may pick the way; buffers and MPI_IN_PLACE are each rank's own. */
#include "pmpi/front.h"

#include <limits.h>

#include "base/alloc.h"

struct arguments {
    struct cx_pair pair;
    MPI_Op op;
    MPI_Comm comm;
};

/* What MPI itself must report. */
static int erroneous(const void *sendbuf, const void *recvbuf, MPI_Count count,
                     MPI_Datatype type, MPI_Op op)
{
    if (count < 0 || type == MPI_DATATYPE_NULL || op == MPI_OP_NULL)
        return 1;
    if (count == 0)
        return 0;
    return recvbuf == MPI_IN_PLACE || sendbuf == recvbuf ||
           ((sendbuf == NULL || recvbuf == NULL) && cx_type_basic(type));
}

static enum cx_status prepare(struct arguments *a, const void *sendbuf,
                              void *recvbuf, MPI_Count count, MPI_Datatype type)
{
    enum cx_status status = cx_buffer_init(&a->pair.recv, recvbuf, count, type);

    a->pair.in_place = sendbuf == MPI_IN_PLACE;
    if (status == CX_OK && !a->pair.in_place)
        status = cx_buffer_init(&a->pair.send, sendbuf, count, type);
    return status;
}

static int call_mpi(const void *arg, const void *send, void *recv)
{
    const struct arguments *a = arg;

    if (a->pair.recv.count <= INT_MAX)
        return cx_mpi.Allreduce(send, recv, (int)a->pair.recv.count,
                                a->pair.recv.type, a->op, a->comm);
    return cx_mpi.Allreduce_c(send, recv, a->pair.recv.count, a->pair.recv.type,
                              a->op, a->comm);
}

/* The engine's call in place on packed host memory: for types with padding, and
 * for buffers in several memories. */
static enum cx_status packed(struct arguments *a, struct cx_comm *c,
                             struct cx_call *call, struct cx_result *result)
{
    const struct cx_buffer *from =
        a->pair.in_place ? &a->pair.recv : &a->pair.send;
    void *bytes = cx_alloc(a->pair.recv.nbytes, 1);
    enum cx_status status = call->failed;

    if (bytes == NULL)
        status = CX_ERR_NOMEM;
    if (status == CX_OK)
        status = cx_buffer_pack(from, bytes);
    call->src = NULL;
    call->dst = bytes;
    call->failed = status; /* joins all the same: the others must hear of it */
    status = cx_collective(c, call, result);
    if (status == CX_OK)
        status = cx_buffer_unpack(&a->pair.recv, bytes);
    result->device_bytes = cx_pair_device_bytes(&a->pair);
    cx_free(bytes);
    return status;
}

static enum cx_status engine(struct arguments *a, struct cx_comm *c,
                             struct cx_call *call, struct cx_result *result)
{
    enum cx_status status = cx_pair_query(&a->pair);

    if (status != CX_OK)
        call->failed = status;
    if (a->pair.recv.size != a->pair.recv.extent ||
        a->pair.recv.mem.kind == CX_MEM_MIXED ||
        a->pair.send.mem.kind == CX_MEM_MIXED)
        return packed(a, c, call, result);
    call->src_mem = a->pair.send.mem;
    call->dst_mem = a->pair.recv.mem;
    return cx_collective(c, call, result);
}

static int serve(const struct cx_quick *facts, const void *sendbuf,
                 void *recvbuf, MPI_Comm comm, int *rc)
{
    struct arguments a = {.op = facts->op, .comm = comm};
    struct cx_result result = {0};
    struct cx_entry entry;
    struct cx_call call;
    enum cx_status status;
    enum cx_way way;
    const char *why = NULL;
    int mpi_rc = CX_NOT_CALLED;

    if (erroneous(sendbuf, recvbuf, facts->count, facts->type, facts->op) ||
        !cx_entry_begin(&entry, comm, CX_ALLREDUCE))
        return 0;
    status = prepare(&a, sendbuf, recvbuf, facts->count, facts->type);
    if (status != CX_OK || !a.pair.recv.usable || a.pair.recv.nbytes == 0)
        return cx_entry_pass(&entry, CX_ALLREDUCE, "nothing to reduce", 0);
    call = (struct cx_call){
        .func = CX_ALLREDUCE,
        .src = a.pair.in_place ? NULL : sendbuf,
        .dst = recvbuf,
        .count = (size_t)facts->count,
        .op = cx_redop_of(facts->op),
    };
    if (call.op != CX_REDOP_NONE)
        call.dtype = cx_dtype_of(facts->type);
    way = cx_way_of(entry.c, &call, &why, &status);
    if (status == CX_OK &&
        cx_passes(&entry, way, &a.pair.recv,
                  a.pair.in_place ? NULL : &a.pair.send, &why))
        return cx_entry_pass(&entry, CX_ALLREDUCE, why, a.pair.recv.nbytes);
    if (status == CX_OK && way == CX_WAY_ENGINE) {
        status = engine(&a, entry.c, &call, &result);
        why = result.algorithm;
        cx_entry_declined(&way, &why, &status);
    }
    if (status == CX_OK && way == CX_WAY_STAGED) {
        status = cx_pair_query(&a.pair);
        result.device_bytes = cx_pair_device_bytes(&a.pair);
        if (status == CX_OK && result.device_bytes == 0) {
            if (a.pair.recv.plain)
                cx_quick_learn(&entry, facts, a.pair.recv.nbytes,
                               a.pair.recv.nbytes);
            return cx_entry_pass(&entry, CX_ALLREDUCE, why, a.pair.recv.nbytes);
        }
        cx_guard_leave(&entry.guard); /* MPI may raise an error and jump */
        if (status == CX_OK)
            status = cx_pair_staged(&a.pair, call_mpi, &a, &mpi_rc);
    }
    *rc = cx_entry_end(&entry, CX_ALLREDUCE, way, why, a.pair.recv.nbytes,
                       result.device_bytes, status, mpi_rc);
    return 1;
}

int cx_front_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm, int *rc)
{
    struct cx_quick facts = {
        .func = CX_ALLREDUCE, .type = type, .op = op, .count = count};

    return !cx_quick_pass(comm, &facts, sendbuf, recvbuf) &&
           serve(&facts, sendbuf, recvbuf, comm, rc);
}
