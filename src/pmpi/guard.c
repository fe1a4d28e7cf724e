/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.c - functions that Coax neither serves nor stages: GPU memory given to
 * them is refused, with one line and an MPI error, where MPI would crash on it.
 *
 * Only memory that the CPU cannot touch is refused, and only where the call
 * would touch it: not with a count of 0, not for MPI_PROC_NULL. */
#include "pmpi/guard.h"
#include "pmpi/narrow.h"

#include <stdio.h>

#include "base/log.h"

enum { NO = -1 };
enum object { OBJECT_WORLD, OBJECT_COMM, OBJECT_WIN, OBJECT_FILE };
enum { MAX_BUFFERS = 3 };

/* Numbers of arguments, or NO. */
struct buffer {
    const char *name;
    int buf, count, type, rank, op;
    int wide; /* the count is MPI_Count or MPI_Aint in both forms */
};

struct row {
    enum object object;
    int at, request;
    struct buffer buffers[MAX_BUFFERS];
};

/* The words of guard.def. */
#define COMM(argument) OBJECT_COMM, argument
#define WIN(argument) OBJECT_WIN, argument
#define FILE(argument) OBJECT_FILE, argument
#define WORLD OBJECT_WORLD, NO
#define BUF(...) BUF_NO_OP(__VA_ARGS__, NO)
#define BUF_NO_OP(name, buf, count, type, rank, op)                            \
    {                                                                          \
        name, buf, count, type, rank, op, 0                                    \
    }
#define PARTS(name, buf, count, type, rank)                                    \
    {                                                                          \
        name, buf, count, type, rank, NO, 1                                    \
    }
#define BYTES(name, buf, size)                                                 \
    {                                                                          \
        name, buf, size, NO, NO, NO, 0                                         \
    }
#define ABYTES(name, buf, size)                                                \
    {                                                                          \
        name, buf, size, NO, NO, NO, 1                                         \
    }
#define ROW(object, at, request, ...)                                          \
    {                                                                          \
        object, at, request,                                                   \
        {                                                                      \
            __VA_ARGS__                                                        \
        }                                                                      \
    }

static const struct row rows[CX_NGUARDED] = {
#define CX_GUARD(name, args, object, request, ...)                             \
    ROW(object, request, __VA_ARGS__),
#define CX_GUARD_ONE(name, args, object, request, ...)                         \
    ROW(object, request, __VA_ARGS__),
#include "pmpi/guard.def"
};

/* --- what a refused call returns -------------------------------------------
 */

static int error_code(void)
{
    static int code;

    if (code == 0)
        code = cx_error_code(MPI_ERR_BUFFER,
                             "Coax: GPU memory for a function of an MPI that "
                             "cannot take it (a line that begins with "
                             "\"coax: error\" says which)");
    return code;
}

/* Calls the error handler that MPI would call. */
static int raise_on(enum object object, cx_reg handle)
{
    int code = error_code();

    if (object == OBJECT_COMM)
        cx_mpi.Comm_call_errhandler((MPI_Comm)handle, code);
    else if (object == OBJECT_WIN)
        cx_mpi.Win_call_errhandler((MPI_Win)handle, code);
    else if (object == OBJECT_FILE && cx_mpi.File_call_errhandler != NULL)
        cx_mpi.File_call_errhandler((MPI_File)handle, code);
    else if (object == OBJECT_WORLD && cx_front_world_up())
        cx_mpi.Comm_call_errhandler(MPI_COMM_WORLD, code);
    return code;
}

/* Once for each function and process. */
static void say(enum cx_wrapped which, const char *name, const char *argument,
                int device)
{
    static _Atomic int said[CX_NWRAPPED];

    if (atomic_exchange(&said[which], 1) == 0)
        cx_error("%s: argument %s is GPU memory (device %d), and this MPI "
                 "cannot take it: copy it to host memory first, or use a "
                 "GPU-aware MPI",
                 name, argument, device);
}

/* A program that goes on with the request must not find an old one there. */
static void clear_request(cx_reg request)
{
    if (request != 0)
        *(MPI_Request *)request = MPI_REQUEST_NULL;
}

/* --- the call ---------------------------------------------------------------
 */

/* Where the plain form has int, this one has MPI_Count. The position of Pack
 * needs nothing: its low half stands first. */
static int call_row(const struct row *row, int large, enum cx_wrapped which,
                    const char *name, const cx_reg *args)
{
    const struct buffer *buffer = row->buffers;
    struct cx_narrow narrow = {0};
    int i;

    if (!large || cx_raw_exists(which) || !cx_raw_exists(which - 1))
        return cx_call_mpi(cx_raw(which), args);
    for (i = 0; i < MAX_BUFFERS && buffer->name != NULL; i++, buffer++) {
        if (buffer->count != NO && !buffer->wide)
            narrow.scalars |= 1u << buffer->count;
        /* Of a window, target_count comes two after target_rank. */
        if (row->object == OBJECT_WIN && buffer->rank != NO)
            narrow.scalars |= 1u << (buffer->rank + 2);
    }
    if (which == CX_WRAP_Win_create_c)
        narrow.scalars |= 1u << 2; /* the unit */
    return cx_narrow_call(&narrow, which - 1, name, args);
}

static int touches(const struct buffer *buffer, int large, const cx_reg *args)
{
    cx_reg count = buffer->count != NO ? args[buffer->count] : 1;

    if (!large && !buffer->wide)
        count = (cx_reg)(int)count;
    return count != 0 &&
           (buffer->rank == NO || (int)args[buffer->rank] != MPI_PROC_NULL) &&
           (buffer->op == NO || (MPI_Op)args[buffer->op] != MPI_NO_OP);
}

static int on_device(const struct buffer *buffer, const cx_reg *args,
                     int *device)
{
    MPI_Datatype type =
        buffer->type != NO ? (MPI_Datatype)args[buffer->type] : MPI_BYTE;

    return cx_pointer_kind_of(args[buffer->buf], type, device) == CX_MEM_DEVICE;
}

/* The handle is for MPI to report. */
static int bad_handle(const struct row *row, const cx_reg *args)
{
    if (row->object == OBJECT_COMM)
        return !cx_looks_like_comm((MPI_Comm)args[row->at]);
    if (row->object == OBJECT_WIN)
        return (MPI_Win)args[row->at] == MPI_WIN_NULL;
    return row->object == OBJECT_FILE &&
           (MPI_File)args[row->at] == MPI_FILE_NULL;
}

/* Elements of basic types, that is. */
cx_fn cx_guard_pass(enum cx_guard_id id, enum cx_wrapped which,
                    const cx_reg *args)
{
    const struct buffer *buffer = rows[id].buffers;
    cx_reg base;
    int i;

    for (i = 0; i < MAX_BUFFERS && buffer->name != NULL; i++, buffer++) {
        base = args[buffer->buf];
        if ((buffer->type != NO &&
             !cx_type_basic((MPI_Datatype)args[buffer->type])) ||
            (base != 0 && !cx_is_host(base, 1)))
            return NULL;
    }
    return atomic_load_explicit(&cx_raw_known[which], memory_order_relaxed);
}

int cx_guard_call(enum cx_guard_id id, int large, enum cx_wrapped which,
                  const char *name, const cx_reg *args)
{
    const struct row *row = &rows[id];
    const struct buffer *buffer = row->buffers;
    int i, device;

    if (!cx_watching() || bad_handle(row, args))
        return call_row(row, large, which, name, args);
    for (i = 0; i < MAX_BUFFERS && buffer->name != NULL; i++, buffer++) {
        if (!touches(buffer, large, args) || !on_device(buffer, args, &device))
            continue;
        say(which, name, buffer->name, device);
        if (row->request != NO)
            clear_request(args[row->request]);
        return raise_on(row->object, row->at != NO ? args[row->at] : 0);
    }
    return call_row(row, large, which, name, args);
}

static const char *buffer_name(const struct cx_coll *coll, int is_recv)
{
    if (coll->flags & CX_COLL_ONE_BUFFER)
        return "buffer";
    return is_recv ? "recvbuf" : "sendbuf";
}

int cx_guard_coll(enum cx_coll_id id, int large, enum cx_wrapped which,
                  const char *name, int request, const cx_reg *args)
{
    struct cx_coll_call call;
    struct cx_found found;

    if (!cx_watching() || !cx_coll_read(&call, id, large, args) ||
        !cx_coll_on_gpu(&call, 1 << CX_MEM_DEVICE, &found) || !found.yes)
        return !large || cx_raw_exists(which)
                   ? cx_call_mpi(cx_raw(which), args)
                   : cx_narrow_coll(id, which, name, 0, args);
    say(which, name, buffer_name(call.coll, found.is_recv), found.device);
    clear_request(args[request]);
    return raise_on(OBJECT_COMM, (cx_reg)call.comm);
}
