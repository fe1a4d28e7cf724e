/* SPDX-License-Identifier: BSD-3-Clause */
/* session.c - programs that use MPI by sessions, without MPI_Init.
 *
 * There MPI_Initialized says no, MPI_COMM_WORLD and MPI_COMM_SELF must not be
 * touched, and only the end of the last session tells that MPI goes away: so
 * sessions are counted. What Coax needs for itself hangs on a session of its
 * own, which ends right before the program's last one. */
#include "pmpi/front.h"

static _Atomic int open_sessions;
static MPI_Session own = MPI_SESSION_NULL;

int cx_session_count(void)
{
    return atomic_load_explicit(&open_sessions, memory_order_relaxed);
}

void cx_session_opened(void)
{
    atomic_fetch_add(&open_sessions, 1);
}

int cx_session_closing(void)
{
    int last = atomic_fetch_sub(&open_sessions, 1) == 1 && !cx_front_world_up();

    if (last)
        cx_front_teardown();
    return last;
}

void cx_session_closed(int last, int ok)
{
    if (!ok)
        atomic_fetch_add(&open_sessions, 1);
    else if (last)
        cx_front_after_finalize();
}

int cx_session_self(MPI_Comm *out)
{
    MPI_Group self = MPI_GROUP_NULL;
    int ok;

    if (cx_mpi.Session_init == NULL ||
        cx_mpi.Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own) !=
            MPI_SUCCESS)
        return 0;
    ok = cx_mpi.Group_from_session_pset(own, "mpi://SELF", &self) ==
             MPI_SUCCESS &&
         cx_mpi.Comm_create_from_group(self, "org.coax", MPI_INFO_NULL,
                                       MPI_ERRORS_RETURN, out) == MPI_SUCCESS;
    if (self != MPI_GROUP_NULL)
        cx_mpi.Group_free(&self);
    return ok;
}

void cx_session_release(void)
{
    if (own != MPI_SESSION_NULL)
        cx_mpi.Session_finalize(&own);
}
