/* SPDX-License-Identifier: BSD-3-Clause */
/* behind.c - a rank that failed before it reached MPI is behind the others.
 *
 * A staged call that cannot read its buffer must not enter MPI, which would
 * hand wrong data to the others as a success; and MPI has no way to tell them.
 * Agreeing first would cost each small call a latency. So the error goes to the
 * communicator's handler, which by default ends the job. If it returns, the
 * others may wait for this rank; the next collective that it makes there would
 * meet that call, and MPI_Finalize would wait for ever: both end the job. So it
 * is with a call of the engine where the network does not even take the message
 * that this rank has failed. */
#include "pmpi/front.h"

#include <pthread.h>

#include "base/log.h"

_Atomic int cx_behind;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The first ones; where there are more, every communicator is suspect. */
enum { MAX_MARKS = 8 };
static struct {
    MPI_Comm comm; /* MPI_COMM_NULL: it is no more */
    const char *func;
    enum cx_status status;
} marks[MAX_MARKS];
static int nmarks;

void cx_behind_mark(MPI_Comm comm, const char *func, enum cx_status status)
{
    pthread_mutex_lock(&lock);
    if (nmarks < MAX_MARKS) {
        marks[nmarks].comm = comm;
        marks[nmarks].func = func;
        marks[nmarks].status = status;
    }
    nmarks++;
    atomic_store(&cx_behind, 1);
    pthread_mutex_unlock(&lock);
}

void cx_behind_forget(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < nmarks && i < MAX_MARKS; i++)
        if (marks[i].comm == comm)
            marks[i].comm = MPI_COMM_NULL;
    pthread_mutex_unlock(&lock);
}

/* The mark that a call on `comm` meets, or -1. */
static int find(MPI_Comm comm)
{
    int found = -1;

    pthread_mutex_lock(&lock);
    if (nmarks > 0 && (comm == MPI_COMM_NULL || nmarks > MAX_MARKS))
        found = 0;
    for (int i = 0; i < nmarks && i < MAX_MARKS && found < 0; i++)
        if (marks[i].comm == comm)
            found = i;
    pthread_mutex_unlock(&lock);
    return found;
}

void cx_behind_stop(MPI_Comm comm, const char *func)
{
    int i = find(comm);

    if (i < 0)
        return;
    cx_error("%s of rank %d ends the job: its %s failed before (%s) and the "
             "others, who may wait for it there, cannot be told",
             func, cx_front.world_rank, marks[i].func,
             cx_status_str(marks[i].status));
    cx_mpi.Abort(comm != MPI_COMM_NULL ? comm : MPI_COMM_SELF, 1);
}
