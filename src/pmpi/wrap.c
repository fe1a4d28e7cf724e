/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.c - the exported wrappers: MPI_X and PMPI_X, one body each.
 *
 * Both names, because Fortran layers and other tools call either one. Arguments
 * are taken and passed on at register width, so that a call under another MPI
 * ABI (pointer handles) leaves exactly as it came. A communicator that is off
 * costs one look into a table and a tail call. */
#include "pmpi/front.h"

#include "base/log.h"

#define EXPORT __attribute__((visibility("default")))

/* Defines the C function that carries the symbols MPI_name and PMPI_name. */
#define WRAPPER(name, args)                                                    \
    EXPORT int wrap_##name args __asm__("MPI_" #name);                         \
    EXPORT int pwrap_##name args __asm__("PMPI_" #name)                        \
        __attribute__((alias("MPI_" #name)));                                  \
    int wrap_##name args

typedef int (*reg0_fn)(void);
typedef int (*reg1_fn)(cx_reg);
typedef int (*reg2_fn)(cx_reg, cx_reg);
typedef int (*reg3_fn)(cx_reg, cx_reg, cx_reg);
typedef int (*reg4_fn)(cx_reg, cx_reg, cx_reg, cx_reg);
typedef int (*reg5_fn)(cx_reg, cx_reg, cx_reg, cx_reg, cx_reg);
typedef int (*reg6_fn)(cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg);
typedef int (*reg7_fn)(cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg);

WRAPPER(Init, (cx_reg argc, cx_reg argv))
{
    int rc = ((reg2_fn)cx_raw(CX_WRAP_Init))(argc, argv);

    cx_front_world_begin();
    return rc;
}

WRAPPER(Init_thread, (cx_reg argc, cx_reg argv, cx_reg want, cx_reg got))
{
    int rc = ((reg4_fn)cx_raw(CX_WRAP_Init_thread))(argc, argv, want, got);

    cx_front_world_begin();
    return rc;
}

WRAPPER(Finalize, (void))
{
    int rc = ((reg0_fn)cx_raw(CX_WRAP_Finalize))();

    cx_front_after_finalize();
    return rc;
}

WRAPPER(Session_init, (cx_reg info, cx_reg errhandler, cx_reg session))
{
    int rc = ((reg3_fn)cx_raw(CX_WRAP_Session_init))(info, errhandler, session);

    if (rc == MPI_SUCCESS)
        cx_session_opened();
    return rc;
}

WRAPPER(Session_finalize, (cx_reg session))
{
    int last = cx_session_closing();
    int rc = ((reg1_fn)cx_raw(CX_WRAP_Session_finalize))(session);

    cx_session_closed(last, rc == MPI_SUCCESS);
    return rc;
}

WRAPPER(Allreduce, (cx_reg sendbuf, cx_reg recvbuf, cx_reg count, cx_reg type,
                    cx_reg op, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_allreduce((const void *)sendbuf, (void *)recvbuf, (int)count,
                           (MPI_Datatype)type, (MPI_Op)op, (MPI_Comm)comm, &rc))
        return rc;
    return ((reg6_fn)cx_raw(CX_WRAP_Allreduce))(sendbuf, recvbuf, count, type,
                                                op, comm);
}

WRAPPER(Allreduce_c, (cx_reg sendbuf, cx_reg recvbuf, cx_reg count, cx_reg type,
                      cx_reg op, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_allreduce((const void *)sendbuf, (void *)recvbuf,
                           (MPI_Count)count, (MPI_Datatype)type, (MPI_Op)op,
                           (MPI_Comm)comm, &rc))
        return rc;
    return ((reg6_fn)cx_raw(CX_WRAP_Allreduce_c))(sendbuf, recvbuf, count, type,
                                                  op, comm);
}

WRAPPER(Bcast,
        (cx_reg buffer, cx_reg count, cx_reg type, cx_reg root, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_bcast((void *)buffer, (int)count, (MPI_Datatype)type,
                       (int)root, (MPI_Comm)comm, &rc))
        return rc;
    return ((reg5_fn)cx_raw(CX_WRAP_Bcast))(buffer, count, type, root, comm);
}

WRAPPER(Bcast_c,
        (cx_reg buffer, cx_reg count, cx_reg type, cx_reg root, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_bcast((void *)buffer, (MPI_Count)count, (MPI_Datatype)type,
                       (int)root, (MPI_Comm)comm, &rc))
        return rc;
    return ((reg5_fn)cx_raw(CX_WRAP_Bcast_c))(buffer, count, type, root, comm);
}

WRAPPER(Allgather,
        (cx_reg sendbuf, cx_reg sendcount, cx_reg sendtype, cx_reg recvbuf,
         cx_reg recvcount, cx_reg recvtype, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_allgather((const void *)sendbuf, (int)sendcount,
                           (MPI_Datatype)sendtype, (void *)recvbuf,
                           (int)recvcount, (MPI_Datatype)recvtype,
                           (MPI_Comm)comm, &rc))
        return rc;
    return ((reg7_fn)cx_raw(CX_WRAP_Allgather))(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

WRAPPER(Allgather_c,
        (cx_reg sendbuf, cx_reg sendcount, cx_reg sendtype, cx_reg recvbuf,
         cx_reg recvcount, cx_reg recvtype, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_allgather((const void *)sendbuf, (MPI_Count)sendcount,
                           (MPI_Datatype)sendtype, (void *)recvbuf,
                           (MPI_Count)recvcount, (MPI_Datatype)recvtype,
                           (MPI_Comm)comm, &rc))
        return rc;
    return ((reg7_fn)cx_raw(CX_WRAP_Allgather_c))(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
