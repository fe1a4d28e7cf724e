/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - what all wrapped collectives share: entry, the choice of the way,
 * and the end. */
#include "pmpi/front.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

/* As the program calls it; large-count forms by the same name. */
static const char *mpi_name(enum cx_func func)
{
    static const char *const names[] = {[CX_ALLREDUCE] = "MPI_Allreduce",
                                        [CX_BCAST] = "MPI_Bcast",
                                        [CX_ALLGATHER] = "MPI_Allgather"};

    return names[func];
}

int cx_entry_begin(struct cx_entry *entry, MPI_Comm comm, enum cx_func func)
{
    entry->start_us = 0;
    if (!cx_front_begin() || !cx_looks_like_comm(comm) ||
        !cx_guard_enter(&entry->guard))
        return 0;
    cx_behind_check(comm, mpi_name(func));
    entry->c = cx_comm_get(comm);
    if (entry->c == NULL ||
        (entry->c->state == CX_COMM_OFF && !cx_front.settings.stats)) {
        cx_guard_leave(&entry->guard);
        return 0;
    }
    if (cx_front.settings.stats)
        entry->start_us = cx_now_us();
    return 1;
}

/* MPICH 4.0.2 loses the text of a code whose class is predefined, and prints
 * that of some other error instead: then the class says more. */
int cx_error_code(int class, const char *text)
{
    char heard[MPI_MAX_ERROR_STRING] = "";
    int code, len;

    if (cx_mpi.Add_error_code(class, &code) != MPI_SUCCESS ||
        cx_mpi.Add_error_string(code, text) != MPI_SUCCESS ||
        cx_mpi.Error_string(code, heard, &len) != MPI_SUCCESS ||
        strcmp(heard, text) != 0)
        return class;
    return code;
}

/* An error code of the class with our own text, made once per class: MPI prints
 * it when it ends the job, and MPI_Error_string gives it. */
static int code_of(int class, enum cx_status status)
{
    static int codes[-CX_ERR_LAST + 1];
    int *code = &codes[-status];
    char text[MPI_MAX_ERROR_STRING];

    snprintf(text, sizeof(text),
             "Coax: %s (a line that begins with \"coax: error\" says more)",
             cx_status_str(status));
    if (*code == 0)
        *code = cx_error_code(class, text);
    return *code;
}

int cx_raise(MPI_Comm comm, enum cx_status status)
{
    int class = MPI_ERR_OTHER, code;

    if (status == CX_ERR_NOMEM)
        class = MPI_ERR_NO_MEM;
    else if (status == CX_ERR_MISMATCH)
        class = MPI_ERR_TRUNCATE;
    else if (status == CX_ERR_ARG)
        class = MPI_ERR_BUFFER;
    code = code_of(class, status);
    cx_mpi.Comm_call_errhandler(comm, code);
    return code;
}

/* Whoever finds an error logs it; but one that has no memory may be far from
 * any knowledge of what for. */
void cx_say_failure(const char *func, enum cx_status status)
{
    static _Thread_local unsigned seen;
    unsigned now = cx_log_errors() + cx_engine_errors();

    if (now == seen)
        cx_error("%s fails on this rank: %s", func, cx_status_str(status));
    seen = cx_log_errors() + cx_engine_errors();
}

enum cx_status cx_collective(struct cx_comm *c, const struct cx_call *call,
                             struct cx_result *result)
{
    enum cx_status status;

    if (call->failed != CX_OK && c->poison == CX_OK)
        cx_say_failure(mpi_name(call->func), call->failed);
    if (c->poison == CX_OK)
        c->poison = call->failed;
    status = cx_engine()->collective(c->team, call, result);
    if (result->untold)
        cx_behind_mark(c->comm, mpi_name(call->func), status);
    return status;
}

/* Has the reason of a failure been told before, or by another rank? */
static int is_old_news(const struct cx_comm *c, enum cx_way way,
                       enum cx_status status)
{
    return status == CX_ERR_PEER || c->state == CX_COMM_BROKEN ||
           (way == CX_WAY_ENGINE && c->poison != CX_OK);
}

int cx_entry_end(struct cx_entry *entry, enum cx_func func, enum cx_way way,
                 const char *detail, size_t nbytes, uint64_t device_bytes,
                 enum cx_status status, int mpi_rc)
{
    MPI_Comm comm = entry->c->comm;

    if (entry->start_us > 0)
        cx_stats_record(func, way, detail, nbytes, device_bytes,
                        cx_now_us() - entry->start_us);
    /* Left before the handler runs: it may throw, or call MPI itself. */
    cx_guard_leave(&entry->guard);
    if (status == CX_OK)
        return mpi_rc != CX_NOT_CALLED ? mpi_rc : MPI_SUCCESS;
    if (!is_old_news(entry->c, way, status))
        cx_say_failure(mpi_name(func), status);
    if (way == CX_WAY_ENGINE && entry->c->poison == CX_OK)
        entry->c->poison = status;
    /* A bad setting is an error on all ranks. */
    if (way == CX_WAY_STAGED && mpi_rc == CX_NOT_CALLED &&
        status != CX_ERR_CONFIG)
        cx_behind_mark(comm, mpi_name(func), status);
    return cx_raise(comm, status);
}

static int on_host(struct cx_buffer *buf)
{
    return cx_buffer_query(buf) == CX_OK && !cx_mem_on_gpu(&buf->mem);
}

int cx_passes(const struct cx_entry *entry, enum cx_way way,
              struct cx_buffer *a, struct cx_buffer *b, const char **why)
{
    if (way == CX_WAY_STAGED)
        return entry->c->state == CX_COMM_OFF || !cx_front_libcuda() ||
               cx_mpi_takes_device();
    if (cx_front.settings.scope != CX_SCOPE_DEVICE)
        return 0;
    *why = "host buffer, COAX_SCOPE=device";
    return on_host(a) && (b == NULL || on_host(b));
}

void cx_entry_declined(enum cx_way *way, const char **why,
                       enum cx_status *status)
{
    if (*status != CX_DECLINED)
        return;
    *way = CX_WAY_STAGED;
    *why = "engine could not build its plan";
    *status = CX_OK;
}

enum cx_way cx_way_of(struct cx_comm *c, struct cx_call *call, const char **why,
                      enum cx_status *status)
{
    enum cx_path path = CX_PATH_MPI;

    *status = CX_OK;
    if (c->state == CX_COMM_ENGAGED)
        *status = cx_engine()->route(c->team, call, &path, why);
    /* On its way to the engine a poisoned call still tells the other ranks. */
    if (path == CX_PATH_ENGINE) {
        call->failed = c->poison;
        return CX_WAY_ENGINE;
    }
    /* Staged calls go on after a failed one of the engine: MPI has not heard of
     * that, so the ranks are in step there. */
    if (c->state == CX_COMM_ENGAGED)
        return CX_WAY_STAGED;
    *why = c->reason;
    if (c->state == CX_COMM_LOST) {
        *status = CX_ERR_INTERNAL;
        *why = "no part in the agreement";
    }
    if (c->state == CX_COMM_BROKEN) {
        *status = CX_ERR_CONFIG;
        *why = "forced setting cannot work";
    }
    return CX_WAY_STAGED;
}

int cx_entry_pass(struct cx_entry *entry, enum cx_func func, const char *why,
                  size_t nbytes)
{
    if (entry->start_us > 0)
        cx_stats_record(func, CX_WAY_PASSED, why, nbytes, 0, 0);
    cx_guard_leave(&entry->guard);
    return 0;
}
