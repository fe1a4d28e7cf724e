/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_mpi.c - the services of an MPI to engines in one process. */
#include "engine_mpi.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define MAX_VALUES 256
#define MAX_RANKS 8
#define PENDING 2 /* a rank is at most one collective ahead of another */

/* One collective: the k-th of every rank meets in one. */
struct meeting {
    int arrived, taken, gone, n;
    int64_t values[MAX_VALUES];
    const struct cx_exchange *ex[MAX_RANKS];
};

struct engine_comm {
    pthread_mutex_t lock;
    int size;
    struct meeting meetings[PENDING];
    struct engine_member members[MAX_RANKS];
};

/* What a request points to. */
struct pending {
    struct engine_member *member;
    struct meeting *meeting;
    int64_t *values; /* NULL: an exchange */
    const struct cx_exchange *ex;
    int taken;
};

struct engine_comm *engine_comm_create(int size)
{
    struct engine_comm *comm = must_alloc(sizeof(*comm));

    pthread_mutex_init(&comm->lock, NULL);
    comm->size = size;
    for (int i = 0; i < size; i++)
        comm->members[i] = (struct engine_member){.comm = comm, .rank = i};
    return comm;
}

void engine_comm_destroy(struct engine_comm *comm)
{
    pthread_mutex_destroy(&comm->lock);
    free(comm);
}

struct engine_member *engine_comm_member(struct engine_comm *comm, int rank)
{
    return &comm->members[rank];
}

static struct pending *arrive(struct engine_member *member, int n)
{
    struct pending *pending = must_alloc(sizeof(*pending));
    struct engine_comm *comm = member->comm;
    struct meeting *meeting = &comm->meetings[member->ncalls++ % PENDING];

    CHECK(meeting->arrived < comm->size, "rank %d is a round ahead",
          member->rank);
    CHECK(meeting->arrived == 0 || meeting->n == n,
          "%d values on rank %d, %d on others", n, member->rank, meeting->n);
    meeting->n = n;
    meeting->arrived++;
    *pending = (struct pending){.member = member, .meeting = meeting};
    return pending;
}

static int64_t combine(enum cx_agree_op op, int64_t a, int64_t b)
{
    if (op == CX_AGREE_SUM)
        return a + b;
    return (op == CX_AGREE_MIN) == (a < b) ? a : b;
}

static enum cx_status iallreduce(void *comm, int64_t *values, int n,
                                 enum cx_agree_op op, struct cx_mpi_req *req)
{
    struct engine_member *member = comm;
    struct pending *pending;

    CHECK(n <= MAX_VALUES, "%d values", n);
    pthread_mutex_lock(&member->comm->lock);
    pending = arrive(member, n);
    pending->values = values;
    for (int i = 0; i < n; i++) {
        int64_t *sum = &pending->meeting->values[i];

        *sum = pending->meeting->arrived == 1 ? values[i]
                                              : combine(op, *sum, values[i]);
    }
    pthread_mutex_unlock(&member->comm->lock);
    *req = (struct cx_mpi_req){.handle = (uintptr_t)pending};
    return CX_OK;
}

static enum cx_status iexchange(void *comm, const struct cx_exchange *ex,
                                struct cx_mpi_req *req)
{
    struct engine_member *member = comm;
    struct pending *pending;

    pthread_mutex_lock(&member->comm->lock);
    pending = arrive(member, -1);
    pending->ex = ex;
    pending->meeting->ex[member->rank] = ex;
    pthread_mutex_unlock(&member->comm->lock);
    *req = (struct cx_mpi_req){.handle = (uintptr_t)pending};
    return CX_OK;
}

static void take(const struct pending *pending)
{
    const struct meeting *meeting = pending->meeting;
    const struct cx_exchange *ex = pending->ex;

    if (pending->values)
        memcpy(pending->values, meeting->values,
               (size_t)meeting->n * sizeof(int64_t));
    for (int i = 0; ex && i < ex->nfrom; i++)
        memcpy((char *)ex->theirs + (size_t)i * ex->nbytes,
               meeting->ex[ex->from[i]]->mine, ex->nbytes);
}

/* Nobody's request ends before all have taken what is theirs: then the others'
 * memory may go. */
static enum cx_status test(struct cx_mpi_req *req)
{
    struct pending *pending = (struct pending *)req->handle;
    struct engine_comm *comm = pending->member->comm;
    struct meeting *meeting = pending->meeting;
    int done;

    pthread_mutex_lock(&comm->lock);
    if (meeting->arrived == comm->size && !pending->taken) {
        take(pending);
        pending->taken = 1;
        meeting->taken++;
    }
    done = meeting->taken == comm->size;
    if (done && ++meeting->gone == comm->size)
        memset(meeting, 0, sizeof(*meeting));
    pthread_mutex_unlock(&comm->lock);
    if (!done)
        return CX_INPROGRESS;
    free(pending);
    return CX_OK;
}

static void poke(void)
{
}

static int thread_multiple(void)
{
    return 1;
}

static enum cx_status reduce_local(const void *in, void *inout, size_t count,
                                   enum cx_dtype dtype, enum cx_redop op)
{
    (void)in;
    (void)inout;
    (void)count;
    (void)dtype;
    (void)op;
    return CX_DECLINED;
}

const struct cx_mpi_services engine_services = {
    .size = sizeof(engine_services),
    .version = CX_BRIDGE_VERSION,
    .iallreduce = iallreduce,
    .iexchange = iexchange,
    .test = test,
    .poke = poke,
    .thread_multiple = thread_multiple,
    .reduce_local = reduce_local,
};
