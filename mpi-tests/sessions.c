/* SPDX-License-Identifier: BSD-3-Clause */
/* sessions.c - MPI by sessions: without MPI_Init, and mixed with it in any
 * order. The calls must be served, the device buffers with them, and the end
 * of the last session (or MPI_Finalize, where that comes last) must release
 * all.
 *
 * sessions --order=s|wsfe|wsef|swef|swfe [--gpu]
 *   s session only; else the order of MPI_Init (w), session (s), MPI_Finalize
 *   (f) and MPI_Session_finalize (e) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"

#define N 6000
#define LETTER (1 << 20)

static enum mt_kind kind = MT_HOST;
static MPI_Session session;
static MPI_Comm all = MPI_COMM_NULL;

static uint64_t engine_sends(void)
{
    struct mt_ucp_counts ucp = {0};

    if (mt_counts_present())
        mt_counts_ucp(&ucp);
    return ucp.sends;
}

static void allreduce(MPI_Comm comm, const char *when)
{
    int size, rank;
    double data[N], want[N];
    struct mt_buf buf;
    uint64_t before = engine_sends();

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < N; i++) {
        data[i] = rank + i;
        want[i] = size * (size - 1) / 2 + (double)size * i;
    }
    mt_buf_create(&buf, kind, sizeof data, 0);
    mt_buf_arm(&buf, sizeof data, 0);
    mt_buf_write(&buf, 0, data, sizeof data);
    MPI_Allreduce(MPI_IN_PLACE, buf.ptr, N, MPI_DOUBLE, MPI_SUM, comm);
    mt_check(mt_buf_differs(&buf, 0, want, sizeof want) < 0 &&
                 mt_buf_guarded(&buf, sizeof data),
             "%s: the result is wrong", when);
    if (mt_counts_present() && size > 1)
        mt_check(engine_sends() > before, "%s: not by the engine", when);
    /* Small: staged, through MPI. */
    mt_buf_write(&buf, 0, data, 2 * sizeof *data);
    MPI_Bcast(buf.ptr, 2, MPI_DOUBLE, size - 1, comm);
    data[0] = size - 1;
    data[1] = size;
    mt_check(mt_buf_differs(&buf, 0, data, 2 * sizeof *data) < 0,
             "%s: a small broadcast is wrong", when);
    mt_buf_destroy(&buf);
}

static void open_session(void)
{
    MPI_Group group;
    int up = 1;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "coax-test", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &all);
    MPI_Group_free(&group);
    MPI_Comm_rank(all, &mt.rank);
    MPI_Comm_size(all, &mt.size);
    MPI_Initialized(&up);
    if (mt.rank == 0)
        printf("a session, MPI_Initialized says %d\n", up);
}

/* A message in flight while the other rank is in a collective: Coax must drive
 * MPI, which it does on a communicator of its own. */
static void letter(void)
{
    char *text = mt_alloc(LETTER);
    MPI_Request request;

    if (mt.size < 2)
        goto out;
    memset(text, mt.rank + 1, LETTER);
    if (mt.rank == 0)
        MPI_Isend(text, LETTER, MPI_BYTE, 1, 0, all, &request);
    if (mt.rank == 1)
        MPI_Recv(text, LETTER, MPI_BYTE, 0, 0, all, MPI_STATUS_IGNORE);
    allreduce(all, "with a message in flight");
    if (mt.rank == 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    mt_check(mt.rank > 1 || text[LETTER - 1] == 1, "the message is wrong");
out:
    free(text);
}

static void use_session(void)
{
    MPI_Comm half, copy;
    int class = 0, rc;

    allreduce(all, "the session's communicator");
    MPI_Comm_split(all, mt.rank % 2, 0, &half);
    allreduce(half, "a split of it");
    MPI_Comm_free(&half);
    MPI_Comm_dup(all, &copy);
    letter();
    allreduce(copy, "a duplicate of it");
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    rc = MPI_Bcast(&class, 1, MPI_INT, mt.size + 3, copy);
    MPI_Error_class(rc, &class);
    mt_check(class == MPI_ERR_ROOT, "a wrong root gives class %d", class);
    MPI_Comm_free(&copy);
}

static void step(int what)
{
    if (what == 'w') {
        MPI_Init(NULL, NULL);
        allreduce(MPI_COMM_WORLD, "the world");
    } else if (what == 's') {
        open_session();
        use_session();
    } else if (what == 'f') {
        allreduce(MPI_COMM_WORLD, "the world at its end");
        MPI_Finalize();
    } else {
        allreduce(all, "the session at its end");
        MPI_Comm_free(&all);
        MPI_Session_finalize(&session);
    }
}

int main(int argc, char **argv)
{
    const char *order = mt_option(argc, argv, "order", "s");
    int descriptors, threads;

    if (mt_option(argc, argv, "gpu", NULL)) {
        mt_cuda_open();
        kind = MT_DEVICE;
    }
    descriptors = mt_entries("/proc/self/fd");
    threads = mt_entries("/proc/self/task");
    for (const char *at = order; *at; at++)
        step(*at);
    if (order[1] == '\0')
        step('e');
    /* Of a session with one process MPICH 4.0.2 itself leaves some. */
    if (mt.size > 1 && kind == MT_HOST)
        mt_check(mt_entries("/proc/self/fd") <= descriptors &&
                     mt_entries("/proc/self/task") <= threads,
                 "%d descriptors after %d, %d threads after %d",
                 mt_entries("/proc/self/fd"), descriptors,
                 mt_entries("/proc/self/task"), threads);
    if (mt.rank == 0)
        printf("mt: %ld checks, %ld failures\n", mt.checks, mt.failures);
    return mt.failures != 0 || mt.checks == 0;
}
