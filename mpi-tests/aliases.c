/* SPDX-License-Identifier: BSD-3-Clause */
/* aliases.c - MPI_Allreduce of one type under another name on each rank, in
 * calls for MPI and for the engine; and Fortran logicals.
 *
 * aliases [--gpu] [--foreign]
 *   --foreign  shim_logical.c is there: logicals are MPI's, whatever the size
 */
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"
#include "rtypes.h"

enum { SMALL = 67, LARGE = 20011, NCASES = 6 };

static const struct {
    MPI_Datatype names[3];
    enum or_op op;
} cases[NCASES] = {
    {{MPI_LONG, MPI_INT64_T, MPI_INTEGER8}, OR_SUM},
    {{MPI_UINT64_T, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG}, OR_BAND},
    {{MPI_INT, MPI_INTEGER, MPI_INT32_T}, OR_MIN},
    {{MPI_DOUBLE, MPI_REAL8, MPI_DOUBLE_PRECISION}, OR_SUM},
    {{MPI_C_BOOL, MPI_CXX_BOOL, MPI_C_BOOL}, OR_LXOR},
    {{MPI_2INT, MPI_2INTEGER, MPI_2INT}, OR_MAXLOC},
};

static struct rtype types[RT_MAX];
static int ntypes, gpu;

static const struct rtype *find(MPI_Datatype mpi)
{
    for (int k = 0; k < ntypes; k++)
        if (types[k].mpi == mpi)
            return &types[k];
    mt_die("a type is not in the table");
}

static uint64_t reached_mpi(void)
{
    struct mt_mpi_counts counts;

    mt_counts_mpi(&counts);
    return counts.calls[MT_ALLREDUCE];
}

static void one(const struct rtype *type, MPI_Datatype name, enum or_op op,
                size_t n, int by_mpi)
{
    size_t extent = type->o.extent, wrong = 0;
    unsigned char *in = mt_alloc(n * extent), *out = mt_alloc(n * extent);
    uint64_t before = reached_mpi();
    struct mt_buf buf;

    for (size_t i = 0; i < n; i++)
        rt_put(type, op, mt.rank, i, in + i * extent);
    mt_buf_create(&buf, gpu && mt.rank == 1 ? MT_DEVICE : MT_HOST, n * extent,
                  0);
    mt_buf_arm(&buf, n * extent, 0);
    mt_buf_write(&buf, 0, in, n * extent);
    mt_check(!MPI_Allreduce(MPI_IN_PLACE, buf.ptr, (int)n, name, rt_mpi_op(op),
                            MPI_COMM_WORLD),
             "%s returned an error", type->o.name);
    mt_buf_read(&buf, 0, out, n * extent);
    for (size_t i = 0; i < n; i++) {
        unsigned char acc[32] = {0}, x[32] = {0};

        rt_put(type, op, 0, i, acc);
        for (int r = 1; r < mt.size; r++) {
            rt_put(type, op, r, i, x);
            or_fold(&type->o, op, acc, x);
        }
        /* A sum by MPI may keep any NaN. */
        wrong += or_differs(&type->o, out + i * extent, acc) &&
                 !(by_mpi && or_is_nan(&type->o, acc));
    }
    mt_check(!wrong, "%s of %zu %s: %zu wrong", or_op_name[op], n, type->o.name,
             wrong);
    mt_check((int)(reached_mpi() - before) == by_mpi,
             "%s of %zu %s: %d calls reached MPI", or_op_name[op], n,
             type->o.name, (int)(reached_mpi() - before));
    mt_buf_destroy(&buf);
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    int foreign = mt_option(argc, argv, "foreign", NULL) != NULL;

    mt_init();
    ntypes = rt_types(types);
    gpu = mt_option(argc, argv, "gpu", NULL) != NULL;
    if (gpu)
        mt_cuda_open();
    for (int k = 0; k < NCASES; k++) {
        MPI_Datatype name = cases[k].names[mt.rank % 3];

        one(find(cases[k].names[0]), name, cases[k].op, SMALL, 1);
        one(find(cases[k].names[0]), name, cases[k].op, LARGE, 0);
    }
    for (const enum or_op *op = rt_ops(RT_TRUTH); *op != OR_NOPS; op++) {
        one(find(MPI_LOGICAL), MPI_LOGICAL, *op, SMALL, 1);
        one(find(MPI_LOGICAL), MPI_LOGICAL, *op, LARGE, foreign);
    }
    return mt_finish();
}
