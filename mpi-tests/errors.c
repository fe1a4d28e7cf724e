/* SPDX-License-Identifier: BSD-3-Clause */
/* errors.c - erroneous calls: prints what MPI answers, one line a case, so that
 * errors.sh can compare the answers with and without Coax.
 *
 * errors [--gpu] [--negative] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"

static int handler_calls, handler_code;

static void note_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    handler_calls++;
    handler_code = *code;
}

static void report(const char *what, int rc)
{
    int class = 0;

    if (rc != MPI_SUCCESS)
        MPI_Error_class(rc, &class);
    mt_check(1, "counted");
    if (mt.rank == 0)
        printf("%s: class %d\n", what, class);
    fflush(stdout);
}

static void bad_handles(double *a, double *b)
{
    report("null communicator, allreduce",
           MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_NULL));
    report("null communicator, bcast",
           MPI_Bcast(a, 1, MPI_DOUBLE, 0, MPI_COMM_NULL));
    report("null communicator, allgather",
           MPI_Allgather(a, 1, MPI_DOUBLE, b, 1, MPI_DOUBLE, MPI_COMM_NULL));
    report("null operation",
           MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_OP_NULL, MPI_COMM_WORLD));
    report("null type, allreduce",
           MPI_Allreduce(a, b, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD));
    report("null type, bcast",
           MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD));
    report("null type, allgather",
           MPI_Allgather(a, 1, MPI_DOUBLE, b, 1, MPI_DATATYPE_NULL,
                         MPI_COMM_WORLD));
}

static void bad_values(double *a, double *b)
{
    MPI_Datatype raw;

    report("root -5", MPI_Bcast(a, 1, MPI_DOUBLE, -5, MPI_COMM_WORLD));
    report("root beyond the last rank",
           MPI_Bcast(a, 1, MPI_DOUBLE, mt.size, MPI_COMM_WORLD));
    report("BAND on doubles",
           MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD));
    report("MAX on complex", MPI_Allreduce(a, b, 1, MPI_C_FLOAT_COMPLEX,
                                           MPI_MAX, MPI_COMM_WORLD));
    report("SUM on bytes",
           MPI_Allreduce(a, b, 1, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD));
    report("MINLOC on doubles",
           MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_MINLOC, MPI_COMM_WORLD));
    MPI_Type_contiguous(2, MPI_DOUBLE, &raw);
    report("type never committed, bcast",
           MPI_Bcast(a, 1, raw, 0, MPI_COMM_WORLD));
    MPI_Type_commit(&raw);
    report("SUM on a derived type",
           MPI_Allreduce(a, b, 1, raw, MPI_SUM, MPI_COMM_WORLD));
    MPI_Type_free(&raw);
}

/* Operations on types that MPI does not define them for. */
static void bad_operations(double *a, double *b)
{
    const struct {
        const char *what;
        MPI_Datatype type;
        MPI_Op op;
    } cases[] = {
        {"REPLACE on int", MPI_INT, MPI_REPLACE},
        {"NO_OP on int", MPI_INT, MPI_NO_OP},
        {"SUM on wide characters", MPI_WCHAR, MPI_SUM},
        {"BOR on packed", MPI_PACKED, MPI_BOR},
        {"SUM on bool", MPI_C_BOOL, MPI_SUM},
        {"BAND on logical", MPI_LOGICAL, MPI_BAND},
        {"MAX on pairs", MPI_DOUBLE_INT, MPI_MAX},
        {"MAXLOC on complex", MPI_C_DOUBLE_COMPLEX, MPI_MAXLOC},
        {"BXOR on long double", MPI_LONG_DOUBLE, MPI_BXOR},
        {"MIN on quad complex", MPI_COMPLEX32, MPI_MIN},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        report(cases[i].what, MPI_Allreduce(a, b, 1, cases[i].type, cases[i].op,
                                            MPI_COMM_WORLD));
}

static void bad_buffers(double *a)
{
    report("send and receive buffer are one, allreduce",
           MPI_Allreduce(a, a, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    report("send and receive buffer are one, allgather",
           MPI_Allgather(a + 4 * mt.rank, 4, MPI_DOUBLE, a, 4, MPI_DOUBLE,
                         MPI_COMM_WORLD));
    report(
        "receive buffer in place",
        MPI_Allreduce(a, MPI_IN_PLACE, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    report("no buffer, bcast",
           MPI_Bcast(NULL, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    report("no buffer for pairs, bcast",
           MPI_Bcast(NULL, 4, MPI_DOUBLE_INT, 0, MPI_COMM_WORLD));
    report(
        "no send buffer for pairs, allreduce",
        MPI_Allreduce(NULL, a, 4, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    report("no receive buffer, allreduce",
           MPI_Allreduce(a, NULL, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

/* The program's handler runs once, with the code that the call returns. */
static void own_handler(double *a, double *b)
{
    MPI_Errhandler handler;
    int rc;

    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    handler_calls = 0;
    rc = MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_OP_NULL, MPI_COMM_WORLD);
    mt_check(handler_calls == 1 && handler_code == rc,
             "the handler ran %d times", handler_calls);
    report("with a handler", rc);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&handler);
}

/* On a communicator without a past, and large: every rank hears the same. */
static void never_committed(double *a)
{
    MPI_Datatype raw;
    MPI_Comm dup;
    int class = 0, rc;

    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN);
    MPI_Type_vector(5000, 1, 2, MPI_INT, &raw);
    rc = MPI_Bcast(a, 1, raw, 0, dup);
    if (rc)
        MPI_Error_class(rc, &class);
    mt_check(class == MPI_ERR_TYPE, "a type never committed: class %d", class);
    MPI_Type_free(&raw);
    MPI_Comm_free(&dup);
}

int main(int argc, char **argv)
{
    int gpu = mt_option(argc, argv, "gpu", NULL) != NULL;
    struct mt_buf a, b;
    double one = 1, sum = 0;

    mt_init();
    mt_buf_create(&a, gpu ? MT_DEVICE : MT_HOST, 40000, 0);
    mt_buf_create(&b, gpu ? MT_DEVICE : MT_HOST, 4096, 0);
    mt_buf_arm(&a, 4096, 0);
    mt_buf_arm(&b, 4096, 0);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (mt_option(argc, argv, "negative", NULL)) {
        report("count -1", MPI_Bcast(a.ptr, -1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        return mt_finish();
    }
    for (int round = 0; round < 2; round++) {
        bad_handles((double *)a.ptr, (double *)b.ptr);
        bad_values((double *)a.ptr, (double *)b.ptr);
        bad_operations((double *)a.ptr, (double *)b.ptr);
        bad_buffers((double *)a.ptr);
        own_handler((double *)a.ptr, (double *)b.ptr);
        never_committed((double *)a.ptr);
        /* And the communicator still works. */
        mt_check(!MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM,
                                MPI_COMM_WORLD) &&
                     sum == mt.size,
                 "the call after the errors is wrong");
    }
    mt_buf_destroy(&a);
    mt_buf_destroy(&b);
    return mt_finish();
}
