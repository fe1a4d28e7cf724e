/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c - the state of a communicator hangs on it as an attribute and dies in
 * the delete callback: MPI reuses handles, so no map is keyed by them.
 *
 * In front of the attribute stands a small table of communicators that are off,
 * so that a job without GPUs pays one load and one compare. */
#include "pmpi/front.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/log.h"

_Atomic uint64_t cx_off_cells[CX_OFF_CELLS];

static int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t keyval_lock = PTHREAD_MUTEX_INITIALIZER;

static void forget_cell(MPI_Comm comm)
{
    uint32_t handle = (uint32_t)comm;
    uint64_t cell = (uint64_t)handle << 32 | 1;

    atomic_compare_exchange_strong(&cx_off_cells[cx_off_index(handle)], &cell,
                                   0);
}

static void remember_off(const struct cx_comm *c)
{
    uint32_t handle = (uint32_t)c->comm;

    /* With statistics on, passed calls are counted too. */
    if (c->state == CX_COMM_OFF && !cx_front.settings.stats)
        atomic_store_explicit(&cx_off_cells[cx_off_index(handle)],
                              (uint64_t)handle << 32 | 1, memory_order_relaxed);
}

/* A thread remembers the states that it used last, by handle; the attribute
 * costs ten times as much. While the program may use a handle its communicator
 * lives, so what was read for it holds until some state dies: that ends the
 * memory of all threads. */
static _Atomic unsigned deaths;

struct recent {
    uint32_t handle;
    unsigned deaths; /* as read before the state was looked up */
    struct cx_comm *c;
};

#define NRECENT 32
static _Thread_local struct recent recent[NRECENT]
    __attribute__((tls_model("initial-exec")));

/* A rank without memory for a state is missed by those that have one and agree
 * now: so a few are kept for it. */
enum { NSPARES = 8 };
static struct cx_comm spares[NSPARES];
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;

static struct cx_comm *take_state(void)
{
    struct cx_comm *c = cx_alloc(1, sizeof(*c));

    if (c != NULL)
        return c;
    pthread_mutex_lock(&spare_lock);
    for (int i = 0; i < NSPARES && c == NULL; i++)
        if (!spares[i].spare)
            c = &spares[i];
    if (c != NULL)
        *c = (struct cx_comm){.spare = 1};
    pthread_mutex_unlock(&spare_lock);
    return c;
}

static void drop_state(struct cx_comm *c)
{
    if (!c->spare) {
        cx_free(c);
        return;
    }
    pthread_mutex_lock(&spare_lock);
    c->spare = 0;
    pthread_mutex_unlock(&spare_lock);
}

static int delete_state(MPI_Comm comm, int key, void *value, void *extra)
{
    struct cx_comm *c = value;

    (void)key;
    (void)extra;
    forget_cell(comm);
    cx_behind_forget(comm);
    atomic_fetch_add(&deaths, 1);
    /* MPI_COMM_WORLD's attributes go after MPI_COMM_SELF's, whose callback has
     * released all teams. */
    if (c->team != NULL && !cx_front.down)
        cx_engine()->team_destroy(c->team);
    drop_state(c);
    return MPI_SUCCESS;
}

static int make_keyval(void)
{
    int rc = MPI_SUCCESS;

    pthread_mutex_lock(&keyval_lock);
    if (keyval == MPI_KEYVAL_INVALID)
        rc = cx_mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_state,
                                       &keyval, NULL);
    pthread_mutex_unlock(&keyval_lock);
    return rc;
}

/* For a communicator whose state cannot be had or kept. */
static struct cx_comm *lost_state(MPI_Comm comm, const char *why)
{
    static _Thread_local struct cx_comm lost
        __attribute__((tls_model("initial-exec")));

    cx_error("%s: this rank cannot take part in a collective", why);
    lost = (struct cx_comm){.comm = comm, .state = CX_COMM_LOST};
    return &lost;
}

static struct cx_comm *create_state(MPI_Comm comm)
{
    struct cx_comm *c = take_state();
    int inter = 0;

    if (c == NULL)
        return lost_state(comm, "no memory for the state of a communicator");
    c->comm = comm;
    cx_mpi.Comm_rank(comm, &c->rank);
    cx_mpi.Comm_size(comm, &c->size);
    c->peers = c->size;
    if (cx_mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) {
        c->inter = 1;
        cx_mpi.Comm_remote_size(comm, &c->peers);
        /* No agreement spans two groups: device buffers are staged. */
        c->state = CX_COMM_STAGE;
        c->reason = "intercommunicator";
    } else {
        c->state = CX_COMM_ASLEEP;
        cx_agree(c);
    }
    if (cx_mpi.Comm_set_attr(comm, keyval, c) == MPI_SUCCESS)
        return c;
    if (c->team != NULL)
        cx_engine()->team_destroy(c->team);
    drop_state(c);
    return lost_state(comm, "MPI keeps no attribute on a communicator");
}

/* Asleep, the ranks ask each other again at calls 2, 4, 8, ...: a number that
 * is equal on all of them, since collectives come in one order. */
static void wake(struct cx_comm *c)
{
    uint64_t n = ++c->ncalls;

    if ((n & (n - 1)) == 0 && n > 1)
        cx_agree(c);
}

static struct cx_comm *look_up(MPI_Comm comm)
{
    struct cx_comm *c = NULL;
    int found = 0;

    if (keyval == MPI_KEYVAL_INVALID && make_keyval() != MPI_SUCCESS)
        return lost_state(comm, "MPI makes no key for attributes");
    if (cx_mpi.Comm_get_attr(comm, keyval, &c, &found) != MPI_SUCCESS)
        return NULL;
    return found ? c : create_state(comm);
}

/* Handles count up within each of three kinds, told by the two top bits. */
static struct recent *recent_slot(MPI_Comm comm)
{
    uint32_t handle = (uint32_t)comm;

    return &recent[(handle + (handle >> 30) * 8) % NRECENT];
}

struct cx_comm *cx_comm_recent(MPI_Comm comm)
{
    const struct recent *slot = recent_slot(comm);

    if (slot->handle != (uint32_t)comm ||
        slot->deaths != atomic_load_explicit(&deaths, memory_order_acquire))
        return NULL;
    return slot->c;
}

struct cx_comm *cx_comm_get(MPI_Comm comm)
{
    struct cx_comm *c = cx_comm_recent(comm);
    unsigned now;

    if (c == NULL) {
        now = atomic_load_explicit(&deaths, memory_order_acquire);
        c = look_up(comm);
        if (c == NULL)
            return NULL;
        if (c->state == CX_COMM_LOST)
            return c;
        *recent_slot(comm) = (struct recent){(uint32_t)comm, now, c};
    }
    if (c->state == CX_COMM_ASLEEP)
        wake(c);
    if (c->state == CX_COMM_OFF)
        remember_off(c);
    return c;
}
