/* SPDX-License-Identifier: BSD-3-Clause */
/* allreduce.c - MPI_Allreduce: same count, type and op on all ranks, so all of
 * them may pick the way; buffers and MPI_IN_PLACE are each rank's own. */
#include "pmpi/front.h"

#include <limits.h>

struct arguments {
    struct cx_buffer send, recv;
    int in_place;
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
    enum cx_status status = cx_buffer_init(&a->recv, recvbuf, count, type);

    a->in_place = sendbuf == MPI_IN_PLACE;
    if (status == CX_OK && !a->in_place)
        status = cx_buffer_init(&a->send, sendbuf, count, type);
    return status;
}

static enum cx_status query(struct arguments *a)
{
    enum cx_status status = cx_buffer_query(&a->recv);

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
    if (a->recv.count <= INT_MAX)
        return cx_mpi.Allreduce(send, recv, (int)a->recv.count, a->recv.type,
                                a->op, a->comm);
    return cx_mpi.Allreduce_c(send, recv, a->recv.count, a->recv.type, a->op,
                              a->comm);
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

int cx_front_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm, int *rc)
{
    struct arguments a = {.op = op, .comm = comm};
    struct cx_result result = {0};
    struct cx_entry entry;
    struct cx_call call;
    enum cx_status status;
    enum cx_way way;
    const char *why = NULL;
    int mpi_rc = MPI_SUCCESS;

    if (erroneous(sendbuf, recvbuf, count, type, op) ||
        !cx_entry_begin(&entry, comm))
        return 0;
    status = prepare(&a, sendbuf, recvbuf, count, type);
    if (status != CX_OK || !a.recv.usable || a.recv.nbytes == 0)
        return cx_entry_pass(&entry, CX_ALLREDUCE, "nothing to reduce", 0);
    call = (struct cx_call){
        .func = CX_ALLREDUCE,
        .src = a.in_place ? NULL : sendbuf,
        .dst = recvbuf,
        .count = (size_t)count,
        .dtype = cx_dtype_of(type),
        .op = cx_redop_of(op),
    };
    way = cx_way_of(entry.c, &call, &why, &status);
    if (status == CX_OK &&
        cx_passes(&entry, way, &a.recv, a.in_place ? NULL : &a.send, &why))
        return cx_entry_pass(&entry, CX_ALLREDUCE, why, a.recv.nbytes);
    if (status == CX_OK && way == CX_WAY_ENGINE) {
        status = cx_engine()->collective(entry.c->team, &call, &result);
        why = result.algorithm;
        cx_entry_declined(&way, &why, &status);
    }
    if (status == CX_OK && way == CX_WAY_STAGED) {
        status = query(&a);
        result.device_bytes = device_bytes(&a);
        if (status == CX_OK && result.device_bytes == 0)
            return cx_entry_pass(&entry, CX_ALLREDUCE, why, a.recv.nbytes);
        cx_guard_leave(&entry.guard); /* MPI may raise an error and jump */
        if (status == CX_OK)
            status = staged(&a, &mpi_rc);
    }
    *rc = cx_entry_end(&entry, CX_ALLREDUCE, way, why, a.recv.nbytes,
                       result.device_bytes, status, mpi_rc);
    return 1;
}
