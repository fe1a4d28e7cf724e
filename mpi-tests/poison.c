/* SPDX-License-Identifier: BSD-3-Clause */
/* poison.c - copies fail on one rank, under MPI_ERRORS_RETURN: that call is an
 * error on this rank, and where the engine made it so is every later one of the
 * communicator; no rank is ever told that a call went well when it holds the
 * data of another one.
 *
 * poison --path=staged|engine|later, on the simulated GPU */
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define MOST 40000
#define CALLS 4 /* the first one goes well */
#define FAILING 1

enum what { BCAST, BCAST_VECTOR, ALLREDUCE, ALLGATHER };

struct plot {
    const char *name;
    enum what what;
    int n;
    int reading; /* the failing rank cannot read its data; else not write it */
    int staged;  /* and what MPI has done is done: later calls go well */
};

struct job {
    const struct plot *plot;
    MPI_Comm comm;
    MPI_Datatype column;
    struct mt_buf send, recv;
    int *data;
};

/* Calls of the simulated driver that fail, all from the first. */
#define NO_READING "cuMemcpyDtoHAsync:1+=1,cuMemcpy2DAsync:1+=1,cuMemcpy:1+=1"
#define NO_WRITING "cuMemcpyHtoDAsync:1+=1,cuMemcpy2DAsync:1+=1,cuMemcpy:1+=1"

/* Every int of a buffer in call `call`; `rank` -1: not yet received. */
static int value(int rank, int call)
{
    return rank < 0 ? -1 : 1000 * call + rank;
}

static void open_job(struct job *job, const struct plot *plot)
{
    size_t nbytes = 2 * (size_t)plot->n * sizeof(int);

    job->plot = plot;
    MPI_Comm_dup(MPI_COMM_WORLD, &job->comm);
    MPI_Comm_set_errhandler(job->comm, MPI_ERRORS_RETURN);
    MPI_Type_vector(job->plot->n, 1, 2, MPI_INT, &job->column);
    MPI_Type_commit(&job->column);
    mt_buf_create(&job->send, MT_DEVICE, nbytes, 0);
    mt_buf_create(&job->recv, MT_DEVICE, nbytes * (size_t)mt.size, 0);
    job->data = mt_alloc(nbytes * (size_t)mt.size);
}

static void close_job(struct job *job)
{
    MPI_Comm_free(&job->comm);
    MPI_Type_free(&job->column);
    mt_buf_destroy(&job->send);
    mt_buf_destroy(&job->recv);
    free(job->data);
}

static void write_all(struct job *job, struct mt_buf *buf, size_t n, int v)
{
    mt_buf_arm(buf, n * sizeof(int), 0);
    for (size_t i = 0; i < n; i++)
        job->data[i] = v;
    mt_buf_write(buf, 0, job->data, n * sizeof(int));
}

static int run(struct job *job, int root)
{
    void *send = job->send.ptr, *recv = job->recv.ptr;
    int n = job->plot->n;

    switch (job->plot->what) {
    case BCAST:
        return MPI_Bcast(recv, n, MPI_INT, root, job->comm);
    case BCAST_VECTOR:
        return MPI_Bcast(recv, 1, job->column, root, job->comm);
    case ALLREDUCE:
        return MPI_Allreduce(send, recv, n, MPI_INT, MPI_MAX, job->comm);
    default:
        return MPI_Allgather(send, n, MPI_INT, recv, n, MPI_INT, job->comm);
    }
}

/* The number of received ints that are not those of this call. */
static size_t count_wrong(struct job *job, int root, int call)
{
    size_t n = (size_t)job->plot->n, wrong = 0, step = 1, all = n;

    if (job->plot->what == BCAST_VECTOR) {
        step = 2;
        all = 2 * n;
    } else if (job->plot->what == ALLGATHER) {
        all = n * (size_t)mt.size;
    }
    mt_buf_read(&job->recv, 0, job->data, all * sizeof(int));
    for (size_t i = 0; i < all; i += step) {
        int from = root;

        if (job->plot->what == ALLGATHER)
            from = (int)(i / n);
        else if (job->plot->what == ALLREDUCE)
            from = mt.size - 1;
        wrong += job->data[i] != value(from, call);
    }
    return wrong;
}

static void one_call(struct job *job, int root, int call)
{
    int failing = call == 1 && mt.rank == FAILING, rc;
    size_t all = 2 * (size_t)job->plot->n, wrong;

    write_all(job, &job->send, all, value(mt.rank, call));
    if (job->plot->what == ALLGATHER)
        all = (size_t)(job->plot->n * mt.size);
    write_all(job, &job->recv, all, value(mt.rank == root ? root : -1, call));
    if (failing)
        mt_sim_faults(job->plot->reading ? NO_READING : NO_WRITING);
    rc = run(job, root);
    if (failing)
        mt_sim_faults(NULL);
    if (call == 0 || rc == MPI_SUCCESS || (job->plot->staged && !failing)) {
        wrong = count_wrong(job, root, call);
        mt_check(rc == MPI_SUCCESS && wrong == 0,
                 "%s, call %d: code %d and %zu wrong", job->plot->name, call,
                 rc, wrong);
    }
    /* Without its data, nobody can end the call well. */
    if (failing || (call > 0 && !job->plot->staged &&
                    (mt.rank == FAILING || job->plot->reading)))
        mt_check(rc != MPI_SUCCESS, "%s, call %d: no error", job->plot->name,
                 call);
}

/* Every rank calls, and every rank comes back. */
static void together(const struct plot *plot)
{
    int root = plot->reading ? FAILING : 0;
    struct job job;

    open_job(&job, plot);
    for (int call = 0; call < CALLS; call++) {
        one_call(&job, root, call);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    close_job(&job);
}

/* The failing rank cannot bring back what MPI has brought it. */
static void staged(void)
{
    static const struct plot plots[] = {
        {"staged bcast", BCAST, 100, 0, 1},
        {"staged vector", BCAST_VECTOR, 100, 0, 1},
        {"staged allreduce", ALLREDUCE, 100, 0, 1},
        {"staged allgather", ALLGATHER, 100, 0, 1},
    };

    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++)
        together(&plots[i]);
}

/* Nobody else can end the failing call well, but for one whose data a small
 * message has brought already. */
static void engine(void)
{
    static const struct plot plots[] = {
        {"vector from the failing root", BCAST_VECTOR, 9000, 1, 0},
        {"vector to the failing rank", BCAST_VECTOR, 9000, 0, 0},
        {"bcast from the failing root", BCAST, MOST, 1, 0},
        {"allreduce, no reading", ALLREDUCE, MOST, 1, 0},
        {"allgather, no reading", ALLGATHER, MOST, 1, 0},
    };

    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++)
        together(&plots[i]);
}

/* The others have ended the failing call well, and hear of it in the next. */
static void later(void)
{
    static const struct plot plots[] = {
        {"allreduce, no writing", ALLREDUCE, MOST, 0, 0},
        {"allgather, no writing", ALLGATHER, MOST, 0, 0},
    };

    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++)
        together(&plots[i]);
}

int main(int argc, char **argv)
{
    const char *path = mt_option(argc, argv, "path", "");

    mt_init();
    mt_cuda_open();
    if (!strcmp(path, "engine")) {
        engine();
    } else if (!strcmp(path, "later")) {
        later();
    } else {
        staged();
    }
    return mt_finish();
}
