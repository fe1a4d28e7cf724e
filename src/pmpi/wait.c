/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c - the front's own MPI requests: started nonblocking, polled, and
 * never waited for in silence. */
#include "pmpi/front.h"

#include <sched.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

/* An MPICH request is an int; kept in the engine's opaque word. */
static void keep(struct cx_mpi_req *req, MPI_Request request)
{
    req->handle = (uintptr_t)(uint32_t)request;
}

enum cx_status cx_iallreduce(void *comm, int64_t *values, int n,
                             enum cx_agree_op op, struct cx_mpi_req *req)
{
    static const MPI_Op ops[] = {[CX_AGREE_MIN] = MPI_MIN,
                                 [CX_AGREE_MAX] = MPI_MAX,
                                 [CX_AGREE_SUM] = MPI_SUM};
    struct cx_comm *c = comm;
    MPI_Request request;

    if (c->size == 1) { /* done; see poke() for why MPI is not asked */
        keep(req, MPI_REQUEST_NULL);
        return CX_OK;
    }
    cx_front.has_peers = 1;
    if (cx_mpi.Iallreduce(MPI_IN_PLACE, values, n, MPI_INT64_T, ops[op],
                          c->comm, &request) != MPI_SUCCESS)
        return CX_ERR_MPI;
    keep(req, request);
    return CX_OK;
}

/* The edges of a plan as one sparse Ialltoallv: no private communicator, no
 * message that a wildcard receive of the program could match, and messages
 * only where there is an edge. */
enum cx_status cx_iexchange(void *comm, const struct cx_exchange *ex,
                            struct cx_mpi_req *req)
{
    struct cx_comm *c = comm;
    size_t p = (size_t)c->size;
    int *scounts = ex->counts, *sdispls = scounts + p;
    int *rcounts = scounts + 2 * p, *rdispls = scounts + 3 * p, i;
    MPI_Request request;

    if (c->size == 1) {
        keep(req, MPI_REQUEST_NULL);
        return CX_OK;
    }
    for (i = 0; i < ex->nto; i++)
        scounts[ex->to[i]] = (int)ex->nbytes;
    for (i = 0; i < ex->nfrom; i++) {
        rcounts[ex->from[i]] = (int)ex->nbytes;
        rdispls[ex->from[i]] = (int)(ex->nbytes * (size_t)i);
    }
    if (cx_mpi.Ialltoallv(ex->mine, scounts, sdispls, MPI_BYTE, ex->theirs,
                          rcounts, rdispls, MPI_BYTE, c->comm,
                          &request) != MPI_SUCCESS)
        return CX_ERR_MPI;
    keep(req, request);
    return CX_OK;
}

enum cx_status cx_test(struct cx_mpi_req *req)
{
    MPI_Request request = (MPI_Request)(uint32_t)req->handle;
    int done = 0, rc;

    if (request == MPI_REQUEST_NULL)
        return CX_OK;
    rc = cx_mpi.Test(&request, &done, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS && !done)
        return CX_INPROGRESS;
    return rc == MPI_SUCCESS ? CX_OK : CX_ERR_MPI;
}

/* One line a job: the node that misses a process says so; if no node does, the
 * first ranks of the communicator, one after the other. */
static int say_missing(const struct cx_comm *c, double waited_s)
{
    double limit_s = (double)cx_front.settings.timeout_s;
    char who[256];
    int found = cx_missing_describe(who, sizeof(who));

    if (found == CX_MISSING_OTHER_SPEAKS)
        return 1;
    if (found == CX_MISSING_NONE) {
        if (c->rank > 1 || waited_s < limit_s * (1 + c->rank))
            return c->rank > 1;
        snprintf(who, sizeof(who), "a rank (not one of this node, or busy)");
    }
    cx_warn("%s has not joined a collective of %d ranks for %.0f s: is Coax "
            "preloaded on every rank? (start all of them under `coax run`)",
            who, c->size, waited_s);
    return 1;
}

enum cx_status cx_allreduce_wait(struct cx_comm *c, int64_t *values, int n,
                                 enum cx_agree_op op)
{
    double start_us = cx_now_us();
    double limit_us = (double)cx_front.settings.timeout_s * 1e6;
    unsigned long spins = 0;
    struct cx_mpi_req req;
    enum cx_status status = cx_iallreduce(c, values, n, op, &req);
    int said = 0;

    if (status != CX_OK)
        return status;
    while ((status = cx_test(&req)) == CX_INPROGRESS) {
        double waited_us;

        if (++spins > 64)
            sched_yield();
        if (said || spins % 256 != 0)
            continue;
        waited_us = cx_now_us() - start_us;
        if (waited_us > limit_us)
            said = say_missing(c, waited_us * 1e-6);
    }
    return status;
}
