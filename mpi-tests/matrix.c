/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.c - all cells of matrix.txt for one function, one forced algorithm
 * and one number of ranks.
 *
 * matrix --spec=matrix.txt --func=allreduce [--gpu] [--plain]
 *
 * Pass 1 compares exact-answer inputs with a scalar reference, pass 2 compares
 * the bits of order-dependent inputs with rank 0, the special pass compares
 * NaNs and signed zeros with the project's rule. Inputs and references are made
 * once for each type and operation; a cell of n elements uses their first n.
 * --plain: on MPI alone, host memory only, without what MPICH 4.0.2 gets wrong:
 * it proves the test itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"
#include "spec.h"
#include "values.h"

/* Rank r's data is the common vector from element r * STEP on. */
#define STEP 61
#define POISON 0xa5
#define SPECIAL_MOST 65537

struct cell {
    int pass, type, op, memory, in_place;
    size_t n;
    long index; /* of this launch: picks the root and the device rank */
};

struct job {
    struct spec spec;
    const char *name;
    int func, gpu, plain;
    size_t max;                     /* largest number of elements */
    struct mt_buf send[2], recv[2]; /* host, device */
    unsigned char *input, *scratch;
    unsigned char *shared; /* seen by all: the reference, or rank 0's result */
    MPI_Win win;
    long cells[SPEC_NPASSES], index;
};

static int on_device(const struct cell *cell)
{
    if (cell->memory == SPEC_ONE)
        return mt.rank == cell->index % mt.size;
    return cell->memory == SPEC_DEVICE;
}

static void check_buffer(const struct job *job, const struct cell *cell,
                         const struct mt_buf *buf, const char *what,
                         size_t nbytes, long long differs)
{
    static const char *const memory[] = {"host", "device", "one device"};
    static const char *const pass[] = {"exact", "wild", "special"};

    mt_check(differs < 0,
             "%s %s %s of %zu %s, %s, %s: %s differs from byte %lld on",
             job->name, pass[cell->pass], v_op_name[cell->op], cell->n,
             v_type_name[cell->type], memory[cell->memory],
             cell->in_place ? "in place" : "out of place", what, differs);
    mt_check(mt_buf_guarded(buf, nbytes),
             "%s of %zu %s, %s: guard bytes of %s are gone", job->name, cell->n,
             v_type_name[cell->type], memory[cell->memory], what);
}

/* The number of calls of this function that reached MPI; 0 without shims. */
static uint64_t passed(const struct job *job)
{
    struct mt_mpi_counts counts;

    if (job->plain)
        return 0;
    mt_counts_mpi(&counts);
    return counts.calls[job->func];
}

/* What was written to the shared memory before is read after. */
static void meet(const struct job *job)
{
    MPI_Win_sync(job->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(job->win);
}

static void wild_result(const struct job *job, const struct cell *cell,
                        const struct mt_buf *buf, size_t nbytes)
{
    if (mt.rank == 0)
        mt_buf_read(buf, 0, job->shared, nbytes);
    meet(job);
    check_buffer(job, cell, buf, "result against rank 0", nbytes,
                 mt_buf_differs(buf, 0, job->shared, nbytes));
    meet(job);
}

static void allreduce_cell(struct job *job, const struct cell *cell)
{
    int dev = on_device(cell), rc;
    struct mt_buf *send = &job->send[dev], *recv = &job->recv[dev];
    size_t nbytes = cell->n * v_size(cell->type);
    const void *sendbuf = cell->in_place ? MPI_IN_PLACE : send->ptr;

    mt_buf_arm(recv, nbytes, cell->in_place ? -1 : POISON);
    mt_buf_arm(send, cell->in_place ? 0 : nbytes, -1);
    mt_buf_write(cell->in_place ? recv : send, 0, job->input, nbytes);
    rc = MPI_Allreduce(sendbuf, recv->ptr, (int)cell->n, v_mpi_type(cell->type),
                       v_mpi_op(cell->op), MPI_COMM_WORLD);
    mt_check(rc == MPI_SUCCESS, "allreduce returned %d", rc);
    if (!cell->in_place)
        check_buffer(job, cell, send, "send buffer", nbytes,
                     mt_buf_differs(send, 0, job->input, nbytes));
    if (cell->pass == SPEC_WILD)
        wild_result(job, cell, recv, nbytes);
    else
        check_buffer(job, cell, recv, "result", nbytes,
                     mt_buf_differs(recv, 0, job->shared, nbytes));
}

static void bcast_cell(struct job *job, const struct cell *cell)
{
    struct mt_buf *buf = &job->recv[on_device(cell)];
    size_t size = v_size(cell->type), nbytes = cell->n * size;
    int root = (int)(cell->index / 3 % mt.size), rc;
    const unsigned char *data = job->input + (size_t)root * STEP * size;

    mt_buf_arm(buf, nbytes, mt.rank == root ? -1 : POISON);
    if (mt.rank == root)
        mt_buf_write(buf, 0, data, nbytes);
    rc = MPI_Bcast(buf->ptr, (int)cell->n, v_mpi_type(cell->type), root,
                   MPI_COMM_WORLD);
    mt_check(rc == MPI_SUCCESS, "bcast returned %d", rc);
    check_buffer(job, cell, buf, "buffer", nbytes,
                 mt_buf_differs(buf, 0, data, nbytes));
}

static void allgather_cell(struct job *job, const struct cell *cell)
{
    int dev = on_device(cell), n = (int)cell->n, rc;
    struct mt_buf *send = &job->send[dev], *recv = &job->recv[dev];
    MPI_Datatype type = v_mpi_type(cell->type);
    size_t size = v_size(cell->type), nbytes = cell->n * size;
    size_t mine = (size_t)mt.rank, step = STEP * size;
    const void *sendbuf = cell->in_place ? MPI_IN_PLACE : send->ptr;
    long long at = -1;

    mt_buf_arm(recv, (size_t)mt.size * nbytes, POISON);
    mt_buf_arm(send, cell->in_place ? 0 : nbytes, -1);
    if (cell->in_place)
        mt_buf_write(recv, mine * nbytes, job->input + mine * step, nbytes);
    else
        mt_buf_write(send, 0, job->input + mine * step, nbytes);
    rc = MPI_Allgather(sendbuf, n, type, recv->ptr, n, type, MPI_COMM_WORLD);
    mt_check(rc == MPI_SUCCESS, "allgather returned %d", rc);
    if (!cell->in_place)
        check_buffer(job, cell, send, "send buffer", nbytes,
                     mt_buf_differs(send, 0, job->input + mine * step, nbytes));
    for (int r = 0; r < mt.size && at < 0; r++) {
        at = mt_buf_differs(recv, (size_t)r * nbytes,
                            job->input + (size_t)r * step, nbytes);
        at += at < 0 ? 0 : (long long)((size_t)r * nbytes);
    }
    check_buffer(job, cell, recv, "result", (size_t)mt.size * nbytes, at);
}

static void run_cell(struct job *job, struct cell *cell)
{
    uint64_t before = passed(job);

    cell->index = job->index++;
    if (job->func == MT_ALLREDUCE)
        allreduce_cell(job, cell);
    else if (job->func == MT_BCAST)
        bcast_cell(job, cell);
    else
        allgather_cell(job, cell);
    if (cell->n > 0 && mt.size > 1)
        mt_check(passed(job) == before,
                 "%s of %zu %s went to MPI instead of the forced algorithm",
                 job->name, cell->n, v_type_name[cell->type]);
    job->cells[cell->pass]++;
}

/* Every size, memory and place for the type and operation of `cell`. */
static void run_sizes(struct job *job, struct cell *cell)
{
    const struct spec *spec = &job->spec;
    int nplaces = job->func == MT_BCAST ? 1 : spec->nplaces;

    for (int e = 0; e < spec->nelements; e++)
        for (int m = 0; m < spec->nmemories; m++)
            for (int i = 0; i < nplaces; i++) {
                if (spec->memory[m] != SPEC_HOST && !job->gpu)
                    continue;
                /* A rule for each pair of operands needs no large vectors. */
                if (cell->pass == SPEC_SPECIAL &&
                    spec->elements[e] > SPECIAL_MOST)
                    continue;
                cell->n = spec->elements[e];
                cell->memory = spec->memory[m];
                cell->in_place = spec->in_place[i];
                run_cell(job, cell);
            }
}

static void make_input(const struct cell *cell, int rank, size_t first,
                       size_t n, void *out)
{
    if (cell->pass == SPEC_SPECIAL)
        v_special(cell->type, cell->op, rank, first, n, out);
    else
        v_exact(cell->type, cell->op, rank, first, n, out);
}

/* Inputs of this rank, and the reference over all ranks: a scalar loop over
 * ranks and elements, of which each rank does a part of the elements. */
static void make_reduction(struct job *job, const struct cell *cell)
{
    size_t n = cell->pass == SPEC_SPECIAL ? SPECIAL_MOST : job->max;
    size_t first = n * (size_t)mt.rank / (size_t)mt.size;
    size_t part = n * (size_t)(mt.rank + 1) / (size_t)mt.size - first;
    unsigned char *want = job->shared + first * v_size(cell->type);

    make_input(cell, mt.rank, 0, n, job->input);
    meet(job); /* all have read the last reference */
    make_input(cell, 0, first, part, want);
    for (int r = 1; r < mt.size; r++) {
        make_input(cell, r, first, part, job->scratch);
        if (cell->pass == SPEC_SPECIAL)
            v_fold_ruled(cell->type, cell->op, want, job->scratch, part);
        else
            v_fold(cell->type, cell->op, want, job->scratch, part);
    }
    meet(job);
}

/* Shows that the inputs tell orders apart: rank order against its reverse. */
static void show_order_matters(struct job *job, const struct cell *cell)
{
    size_t n = 20000, size = v_size(cell->type), differ = 0;
    unsigned char *up = job->input, *down = job->scratch;
    unsigned char *x = job->scratch + n * size;

    v_wild(cell->type, 0, n, up);
    v_wild(cell->type, mt.size - 1, n, down);
    for (int r = 1; r < mt.size; r++) {
        v_wild(cell->type, r, n, x);
        v_fold(cell->type, cell->op, up, x, n);
        v_wild(cell->type, mt.size - 1 - r, n, x);
        v_fold(cell->type, cell->op, down, x, n);
    }
    for (size_t i = 0; i < n; i++)
        differ += memcmp(up + i * size, down + i * size, size) != 0;
    mt_check(differ * 10 >= n,
             "%s %s on %d ranks: two orders differ in %zu of %zu elements",
             v_op_name[cell->op], v_type_name[cell->type], mt.size, differ, n);
}

/* MPICH 4.0.2 is wrong for unsigned MAX (its issue 6083). */
static int mpich_wrong(const struct spec_typeop *to)
{
    return to->type == V_UINT64 && to->op == V_MAX;
}

static void run_reductions(struct job *job, int pass)
{
    const struct spec *spec = &job->spec;

    for (int i = 0; i < spec->ntypeops[pass]; i++) {
        struct cell cell = {.pass = pass,
                            .type = spec->typeop[pass][i].type,
                            .op = spec->typeop[pass][i].op};

        if (job->plain && mpich_wrong(&spec->typeop[pass][i]))
            continue;
        if (pass == SPEC_WILD) {
            if (mt.size > 2) /* a + b is b + a */
                show_order_matters(job, &cell);
            v_wild(cell.type, mt.rank, job->max, job->input);
        } else {
            make_reduction(job, &cell);
        }
        run_sizes(job, &cell);
    }
}

static void run_movement(struct job *job)
{
    const struct spec *spec = &job->spec;

    for (int i = 0; i < spec->ntypes; i++) {
        struct cell cell = {
            .pass = SPEC_EXACT, .type = spec->types[i], .op = V_MAX};

        v_exact(cell.type, V_MAX, 0, 0, job->max + STEP * (size_t)mt.size,
                job->input);
        run_sizes(job, &cell);
    }
}

static void open_job(struct job *job, int argc, char **argv)
{
    static const char *const names[] = {"allreduce", "bcast", "allgather"};
    size_t most = 0, blocks;

    job->name = mt_option(argc, argv, "func", "");
    for (job->func = 0; job->func < MT_NFUNCS; job->func++)
        if (!strcmp(names[job->func], job->name))
            break;
    job->gpu = mt_option(argc, argv, "gpu", NULL) != NULL;
    job->plain = mt_option(argc, argv, "plain", NULL) != NULL;
    if (job->func == MT_NFUNCS ||
        spec_read(mt_option(argc, argv, "spec", "matrix.txt"), mt.size,
                  &job->spec))
        mt_die("no function '%s', or no matrix", job->name);
    for (int i = 0; i < job->spec.nelements; i++)
        if (job->spec.elements[i] > job->max)
            job->max = job->spec.elements[i];
    most = (job->max + STEP * (size_t)mt.size) * v_size(V_ZDOUBLE);
    blocks = job->func == MT_ALLGATHER ? (size_t)mt.size : 1;
    job->input = mt_alloc(most);
    job->scratch = mt_alloc(most);
    for (int dev = 0; dev <= job->gpu; dev++) {
        mt_buf_create(&job->send[dev], dev ? MT_DEVICE : MT_HOST, most, 0);
        mt_buf_create(&job->recv[dev], dev ? MT_DEVICE : MT_HOST, blocks * most,
                      0);
    }
    MPI_Win_allocate_shared(mt.rank ? 0 : (MPI_Aint)most, 1, MPI_INFO_NULL,
                            MPI_COMM_WORLD, &job->shared, &job->win);
    if (mt.rank) {
        MPI_Aint nbytes;
        int unit;

        MPI_Win_shared_query(job->win, 0, &nbytes, &unit, &job->shared);
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, job->win);
}

static void check_counts(const struct job *job)
{
    struct mt_ucp_counts ucp;

    for (int pass = 0; pass < SPEC_NPASSES; pass++) {
        long want = spec_cells(&job->spec, job->name, pass);

        if (want < 0 && job->cells[pass] == 0)
            continue;
        if (mt.rank == 0)
            printf("mt: %s pass %d: %ld cells\n", job->name, pass + 1,
                   job->cells[pass]);
        if (job->gpu)
            mt_check(job->cells[pass] == want,
                     "pass %d ran %ld cells, matrix.txt says %ld", pass + 1,
                     job->cells[pass], want);
    }
    if (job->plain || mt.size == 1)
        return;
    mt_counts_ucp(&ucp);
    mt_check(ucp.sends > 0, "the engine has sent nothing");
}

int main(int argc, char **argv)
{
    static struct job job;

    mt_init();
    open_job(&job, argc, argv);
    if (job.func == MT_ALLREDUCE) {
        run_reductions(&job, SPEC_EXACT);
        run_reductions(&job, SPEC_WILD);
        if (!job.plain)
            run_reductions(&job, SPEC_SPECIAL);
    } else {
        run_movement(&job);
    }
    check_counts(&job);
    MPI_Win_unlock_all(job.win);
    MPI_Win_free(&job.win);
    return mt_finish();
}
