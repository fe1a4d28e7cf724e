/* SPDX-License-Identifier: BSD-3-Clause */
/* staged.c - the blocking collectives that the engine does not serve: with
 * buffers on a GPU, MPI runs them on copies in host memory.
 *
 * Local to each rank: MPI sees host buffers everywhere, so a rank that has none
 * on a GPU calls it as it came, and nothing needs to be agreed (design rule 5).
 */
#include "pmpi/narrow.h"
#include "pmpi/region.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

/* MPI may touch managed memory, but not while a kernel does, and its network
 * must not register it. */
enum { ON_GPU = 1 << CX_MEM_DEVICE | 1 << CX_MEM_MANAGED | 1 << CX_MEM_MIXED };

/* The form that is called. */
struct form {
    enum cx_coll_id id;
    enum cx_wrapped which;
    int large;
};

static int call_mpi(const struct form *form, const cx_reg *args)
{
    char name[64];

    if (!form->large || cx_raw_exists(form->which))
        return cx_call_mpi(cx_raw(form->which), args);
    snprintf(name, sizeof(name), "%s_c", cx_colls[form->id].name);
    return cx_narrow_coll(form->id, form->which, name, 1, args);
}

/* What MPI reads from recvbuf. Processes at the border of a grid have
 * neighbours that are none, whose blocks MPI leaves as they are. */
static enum cx_status read_input(struct cx_region *recv,
                                 const struct cx_coll_call *call)
{
    const struct cx_side *laid_out = cx_coll_input(call);

    if (laid_out == NULL && call->cart)
        laid_out = &call->coll->recv;
    if (laid_out == NULL)
        return CX_OK;
    return cx_blocks_read(&recv->in, call, laid_out,
                          call->args[call->coll->recv.buf]);
}

static enum cx_status read_regions(struct cx_region *send,
                                   struct cx_region *recv,
                                   const struct cx_coll_call *call)
{
    const struct cx_coll *coll = call->coll;
    enum cx_status status = CX_OK;

    if (cx_coll_uses(call, &coll->send))
        status = cx_blocks_read(&send->in, call, &coll->send,
                                call->args[coll->send.buf]);
    if (status == CX_OK && cx_coll_uses(call, &coll->recv)) {
        status = read_input(recv, call);
        if (status == CX_OK)
            status = cx_blocks_read(&recv->out, call, &coll->recv,
                                    call->args[coll->recv.buf]);
    }
    return status;
}

/* MPI reports this only where it sees equal addresses. */
static int aliased(const struct cx_coll_call *call,
                   const struct cx_region *send, const struct cx_region *recv)
{
    const struct cx_coll *coll = call->coll;

    if (!(coll->flags & CX_COLL_REDUCES) || send->in.n == 0 ||
        recv->out.n == 0 || call->args[coll->send.buf] == 0 ||
        call->args[coll->send.buf] != call->args[coll->recv.buf])
        return 0;
    cx_error("%s: send and receive buffer are the same GPU memory, which MPI "
             "does not allow: give MPI_IN_PLACE for one of them",
             coll->name);
    return 1;
}

/* The call on mirrors. CX_DECLINED: MPI must report what is wrong. */
static enum cx_status staged(const struct cx_coll_call *call,
                             const struct form *form, uint64_t *nbytes, int *rc)
{
    const struct cx_coll *coll = call->coll;
    struct cx_region send = {0}, recv = {0};
    enum cx_status status, closed;
    cx_reg args[CX_MAX_ARGS];
    int written = 0;

    memcpy(args, call->args, sizeof(args));
    status = read_regions(&send, &recv, call);
    if (status == CX_OK)
        status = cx_region_locate(&send);
    if (status == CX_OK)
        status = cx_region_locate(&recv);
    if (status == CX_OK && aliased(call, &send, &recv)) {
        status = CX_ERR_ARG;
        *rc = MPI_ERR_BUFFER; /* the program's fault: MPI would only say so */
    }
    *nbytes = send.device_bytes + recv.device_bytes;
    if (status == CX_OK)
        status = cx_region_open(&send, &args[coll->send.buf]);
    if (status == CX_OK)
        status = cx_region_open(&recv, &args[coll->recv.buf]);
    if (status == CX_OK) {
        *rc = call_mpi(form, args);
        written = *rc == MPI_SUCCESS &&
                  !(coll->flags & CX_COLL_NOT_FIRST && call->rank == 0);
    }
    closed = cx_region_close(&recv, written);
    if (cx_region_close(&send, 0) != CX_OK)
        closed = CX_ERR_INTERNAL;
    return status != CX_OK ? status : closed;
}

int cx_staged(enum cx_coll_id id, int large, enum cx_wrapped which,
              const cx_reg *args)
{
    struct form form = {id, which, large};
    double start_us = cx_front.settings.stats ? cx_now_us() : 0;
    struct cx_coll_call call;
    struct cx_found found;
    enum cx_status status;
    uint64_t nbytes = 0;
    int rc = CX_NOT_CALLED;

    if (!cx_coll_read(&call, id, large, args))
        return call_mpi(&form, args);
    if (call.coll->comm >= 0)
        cx_behind_check(call.comm, call.coll->name);
    if (!cx_coll_on_gpu(&call, ON_GPU, &found) || !found.yes)
        return call_mpi(&form, args);
    status = staged(&call, &form, &nbytes, &rc);
    if (status == CX_DECLINED)
        return call_mpi(&form, args);
    if (start_us > 0)
        cx_stats_staged(call.coll->stem, nbytes, cx_now_us() - start_us);
    if (status == CX_OK)
        return rc;
    cx_say_failure(call.coll->name, status);
    if (call.coll->comm >= 0 && rc == CX_NOT_CALLED)
        cx_behind_mark(call.comm, call.coll->name, status);
    return cx_raise(call.comm, status);
}
