/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - memory services for the front: what a pointer is, and copies that
 * are complete on return. MPI is driven while a copy runs. */
#include <stdatomic.h>

#include "base/log.h"
#include "engine/engine.h"

enum cx_status cx_memory_query(const void *addr, size_t nbytes,
                               struct cx_mem *out)
{
    const struct cx_io *io = &cx_process.io;
    enum cx_status status;

    if (io->gpu == NULL) {
        *out = (struct cx_mem){.kind = CX_MEM_HOST, .device = -1};
        return CX_OK;
    }
    cx_lock();
    status = io->gpu_ops->query(io->gpu, addr, nbytes, out);
    cx_unlock();
    return status;
}

enum cx_status cx_memory_piece(const void *addr, size_t nbytes,
                               struct cx_mem *out, size_t *n)
{
    const struct cx_io *io = &cx_process.io;
    enum cx_status status;

    cx_lock();
    status = io->gpu_ops->piece(io->gpu, addr, nbytes, out, n);
    cx_unlock();
    return status;
}

enum cx_status cx_memory_settle(const struct cx_mem *mem)
{
    const struct cx_io *io = &cx_process.io;

    return io->gpu_ops->settle(io->gpu, mem);
}

static enum cx_status finish(struct cx_req *req)
{
    const struct cx_io *io = &cx_process.io;
    struct cx_backoff backoff;
    enum cx_status status;

    cx_backoff_init(&backoff);
    for (;;) {
        unsigned done;

        /* Another thread's progress may be what ends the copy. */
        cx_lock();
        done = io->gpu_ops->progress(io->gpu);
        status = req->status;
        cx_unlock();
        if (status != CX_INPROGRESS)
            return status;
        cx_backoff_turn(&backoff, done > 0);
    }
}

static enum cx_status first_way(const struct cx_mem *mem, int to_host,
                                void *dst, size_t dpitch, const void *src,
                                size_t spitch, size_t width, size_t rows)
{
    const struct cx_io *io = &cx_process.io;
    struct cx_req req = {.status = CX_OK};
    enum cx_status status = cx_memory_settle(mem);

    if (status != CX_OK)
        return status;
    cx_lock();
    status = io->gpu_ops->fence(io->gpu, mem);
    if (status == CX_OK && rows == 1)
        io->gpu_ops->copy(io->gpu, mem, to_host, dst, src, width, &req);
    else if (status == CX_OK)
        io->gpu_ops->copy2d(io->gpu, mem, to_host, dst, dpitch, src, spitch,
                            width, rows, &req);
    cx_unlock();
    return status == CX_OK ? finish(&req) : status;
}

/* A staged call that fails on one rank leaves the others alone in MPI, so a
 * copy is tried in two ways. The first one's trouble is said once. */
enum cx_status cx_memory_copy2d(const struct cx_mem *mem, int to_host,
                                void *dst, size_t dpitch, const void *src,
                                size_t spitch, size_t width, size_t rows)
{
    const struct cx_io *io = &cx_process.io;
    static atomic_int said;
    char cause[512] = "";
    enum cx_status status;

    cx_log_hold(cause, sizeof(cause));
    status = first_way(mem, to_host, dst, dpitch, src, spitch, width, rows);
    if (status == CX_OK) {
        cx_log_hold(NULL, 0);
        if (cause[0] != '\0')
            cx_warn("%s", cause);
        return CX_OK;
    }
    status = io->gpu_ops->copy_now(io->gpu, mem, dst, dpitch, src, spitch,
                                   width, rows);
    cx_log_hold(NULL, 0);
    if (status != CX_OK)
        cx_error("cannot copy %zu bytes %s GPU %d: %s", width * rows,
                 to_host ? "from" : "to", mem->device, cause);
    else
        cx_log(atomic_exchange(&said, 1) ? CX_LOG_INFO : CX_LOG_WARN,
               "%s; copied in a slower way", cause);
    return status;
}
