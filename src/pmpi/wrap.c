/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap.c - the wrappers of the functions that the front itself knows: start and
 * end of MPI, and the collectives of the engine. A communicator that is off
 * costs one look into a table and a tail call. */
#include "pmpi/wrap.h"
#include "pmpi/narrow.h"

typedef int (*reg0_fn)(void);
typedef int (*reg1_fn)(cx_reg);
typedef int (*reg2_fn)(cx_reg, cx_reg);
typedef int (*reg3_fn)(cx_reg, cx_reg, cx_reg);
typedef int (*reg4_fn)(cx_reg, cx_reg, cx_reg, cx_reg);
typedef int (*reg5_fn)(cx_reg, cx_reg, cx_reg, cx_reg, cx_reg);
typedef int (*reg6_fn)(cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg);
typedef int (*reg7_fn)(cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg);

CX_WRAPPER(Init, (cx_reg argc, cx_reg argv))
{
    int rc = ((reg2_fn)cx_raw(CX_WRAP_Init))(argc, argv);

    cx_front_world_begin();
    return rc;
}

CX_WRAPPER(Init_thread, (cx_reg argc, cx_reg argv, cx_reg want, cx_reg got))
{
    int rc = ((reg4_fn)cx_raw(CX_WRAP_Init_thread))(argc, argv, want, got);

    cx_front_world_begin();
    return rc;
}

CX_WRAPPER(Finalize, (void))
{
    int rc = ((reg0_fn)cx_raw(CX_WRAP_Finalize))();

    cx_front_after_finalize();
    return rc;
}

CX_WRAPPER(Session_init, (cx_reg info, cx_reg errhandler, cx_reg session))
{
    int rc = ((reg3_fn)cx_raw(CX_WRAP_Session_init))(info, errhandler, session);

    if (rc == MPI_SUCCESS)
        cx_session_opened();
    return rc;
}

CX_WRAPPER(Session_finalize, (cx_reg session))
{
    int last = cx_session_closing();
    int rc = ((reg1_fn)cx_raw(CX_WRAP_Session_finalize))(session);

    cx_session_closed(last, rc == MPI_SUCCESS);
    return rc;
}

/* The call that a rank makes most likely when another one has failed here. */
CX_WRAPPER(Barrier, (cx_reg comm))
{
    cx_behind_check((MPI_Comm)comm, "MPI_Barrier");
    return ((reg1_fn)cx_raw(CX_WRAP_Barrier))(comm);
}

CX_WRAPPER(Allreduce, (cx_reg sendbuf, cx_reg recvbuf, cx_reg count,
                       cx_reg type, cx_reg op, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_allreduce((const void *)sendbuf, (void *)recvbuf, (int)count,
                           (MPI_Datatype)type, (MPI_Op)op, (MPI_Comm)comm, &rc))
        return rc;
    return ((reg6_fn)cx_raw(CX_WRAP_Allreduce))(sendbuf, recvbuf, count, type,
                                                op, comm);
}

CX_WRAPPER(Allreduce_c, (cx_reg sendbuf, cx_reg recvbuf, cx_reg count,
                         cx_reg type, cx_reg op, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_allreduce((const void *)sendbuf, (void *)recvbuf,
                           (MPI_Count)count, (MPI_Datatype)type, (MPI_Op)op,
                           (MPI_Comm)comm, &rc))
        return rc;
    return ((reg6_fn)cx_raw_large(CX_WRAP_Allreduce_c, count, count))(
        sendbuf, recvbuf, count, type, op, comm);
}

CX_WRAPPER(Bcast,
           (cx_reg buffer, cx_reg count, cx_reg type, cx_reg root, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_bcast((void *)buffer, (int)count, (MPI_Datatype)type,
                       (int)root, (MPI_Comm)comm, &rc))
        return rc;
    return ((reg5_fn)cx_raw(CX_WRAP_Bcast))(buffer, count, type, root, comm);
}

CX_WRAPPER(Bcast_c,
           (cx_reg buffer, cx_reg count, cx_reg type, cx_reg root, cx_reg comm))
{
    int rc;

    if (!cx_comm_is_off(comm) &&
        cx_front_bcast((void *)buffer, (MPI_Count)count, (MPI_Datatype)type,
                       (int)root, (MPI_Comm)comm, &rc))
        return rc;
    return ((reg5_fn)cx_raw_large(CX_WRAP_Bcast_c, count, count))(
        buffer, count, type, root, comm);
}

CX_WRAPPER(Allgather,
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

CX_WRAPPER(Allgather_c,
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
    return ((reg7_fn)cx_raw_large(CX_WRAP_Allgather_c, sendcount, recvcount))(
        sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}
