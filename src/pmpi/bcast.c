/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.c - MPI_Bcast: bytes. The signature is equal on all ranks, the type is
 * not (4 x INT against 1 x contiguous(4, INT)): the way depends on total bytes
 * and root, and each rank packs and unpacks on its own. */
#include "pmpi/front.h"

#include <limits.h>

#include "base/alloc.h"

static int call_mpi(const struct cx_buffer *buf, void *addr, int root,
                    MPI_Comm comm)
{
    if (buf->count <= INT_MAX)
        return cx_mpi.Bcast(addr, (int)buf->count, buf->type, root, comm);
    return cx_mpi.Bcast_c(addr, buf->count, buf->type, root, comm);
}

/* Does this rank's buffer hold the data? Between two groups the root says so
 * with MPI_ROOT, and the others name its rank in its own group. */
static int is_source(const struct cx_comm *c, int root)
{
    return c->inter ? root == MPI_ROOT : c->rank == root;
}

static enum cx_status staged(const struct cx_buffer *buf, int root,
                             const struct cx_comm *c, int *mpi_rc)
{
    int is_root = is_source(c, root);
    struct cx_mirror mirror;
    enum cx_status status, closed;

    status = cx_mirror_open(&mirror, buf, is_root);
    if (status == CX_OK)
        *mpi_rc = call_mpi(buf, mirror.addr, root, c->comm);
    closed = cx_mirror_close(
        &mirror, buf, !is_root && status == CX_OK && *mpi_rc == MPI_SUCCESS);
    return status != CX_OK ? status : closed;
}

/* The engine's call on packed host memory, for types with a layout. */
static enum cx_status packed(struct cx_comm *c, struct cx_buffer *buf,
                             struct cx_call *call, struct cx_result *result)
{
    void *bytes = cx_alloc(buf->nbytes, 1);
    enum cx_status status = call->failed;

    if (bytes == NULL)
        status = CX_ERR_NOMEM;
    if (status == CX_OK && c->rank == call->root)
        status = cx_buffer_pack(buf, bytes);
    call->dst = bytes;
    call->failed = status; /* joins all the same: the others must hear of it */
    status = cx_collective(c, call, result);
    if (status == CX_OK && c->rank != call->root)
        status = cx_buffer_unpack(buf, bytes);
    if (cx_mem_on_gpu(&buf->mem))
        result->device_bytes = buf->nbytes;
    cx_free(bytes);
    return status;
}

static enum cx_status engine(struct cx_comm *c, struct cx_buffer *buf,
                             struct cx_call *call, struct cx_result *result)
{
    enum cx_status status = cx_buffer_query(buf);

    if (status != CX_OK)
        call->failed = status;
    if (!cx_buffer_direct(buf))
        return packed(c, buf, call, result);
    call->dst_mem = buf->mem;
    return cx_collective(c, call, result);
}

/* MPI_PROC_NULL takes no part: also for MPI. */
static int is_root_argument(const struct cx_comm *c, int root)
{
    if (c->inter && root == MPI_ROOT)
        return 1;
    return root >= 0 && root < c->peers;
}

static int serve(const struct cx_quick *facts, void *buffer, int root,
                 MPI_Comm comm, int *rc)
{
    struct cx_result result = {0};
    struct cx_buffer buf;
    struct cx_entry entry;
    struct cx_call call;
    enum cx_status status;
    enum cx_way way;
    const char *why = NULL;
    int mpi_rc = CX_NOT_CALLED;

    if (facts->count < 0 || facts->type == MPI_DATATYPE_NULL ||
        (facts->count > 0 && buffer == NULL && cx_type_basic(facts->type)) ||
        !cx_entry_begin(&entry, comm, CX_BCAST))
        return 0;
    status = cx_buffer_init(&buf, buffer, facts->count, facts->type);
    if (status != CX_OK || !buf.usable || buf.nbytes == 0 ||
        !is_root_argument(entry.c, root))
        return cx_entry_pass(&entry, CX_BCAST, "nothing to send", 0);
    call = (struct cx_call){
        .func = CX_BCAST,
        .dst = buffer,
        .count = buf.nbytes,
        .dtype = CX_DT_BYTE,
        .root = root,
    };
    way = cx_way_of(entry.c, &call, &why, &status);
    if (status == CX_OK && cx_passes(&entry, way, &buf, NULL, &why))
        return cx_entry_pass(&entry, CX_BCAST, why, buf.nbytes);
    if (status == CX_OK && way == CX_WAY_ENGINE) {
        status = engine(entry.c, &buf, &call, &result);
        why = result.algorithm;
        cx_entry_declined(&way, &why, &status);
    }
    if (status == CX_OK && way == CX_WAY_STAGED) {
        status = cx_buffer_query(&buf);
        if (status == CX_OK && !cx_mem_on_gpu(&buf.mem)) {
            if (buf.plain)
                cx_quick_learn(&entry, facts, 0, buf.nbytes);
            return cx_entry_pass(&entry, CX_BCAST, why, buf.nbytes);
        }
        result.device_bytes = buf.nbytes;
        cx_guard_leave(&entry.guard); /* MPI may raise an error and jump */
        if (status == CX_OK)
            status = staged(&buf, root, entry.c, &mpi_rc);
    }
    *rc = cx_entry_end(&entry, CX_BCAST, way, why, buf.nbytes,
                       result.device_bytes, status, mpi_rc);
    return 1;
}

/* What is remembered of a call does not depend on its root. */
int cx_front_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                   MPI_Comm comm, int *rc)
{
    struct cx_quick facts = {.func = CX_BCAST, .type = type, .count = count};

    return !cx_quick_pass(comm, &facts, NULL, buffer) &&
           serve(&facts, buffer, root, comm, rc);
}
