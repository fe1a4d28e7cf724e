/* SPDX-License-Identifier: BSD-3-Clause */
/* ops.c - reductions beyond the matrix: every integer type and operation, user
 * functions, a non-commutative operation in rank order, pair types, types that
 * no GPU has, and the large-count forms.
 *
 * ops [--gpu] [--plain] */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"

#define N 67 /* leaves a tail in every vector width */

static int plain, memories = 1, memory;

static enum mt_kind kind(void)
{
    if (memory == 0)
        return MT_HOST;
    if (memory == 1)
        return MT_DEVICE;
    return mt.rank == 1 ? MT_DEVICE : MT_HOST;
}

/* Runs one allreduce of `nbytes` on this memory kind and compares the first
 * `nbytes`; `in` and `want` are host images. */
static void reduce_case(const char *what, const void *in, const void *want,
                        size_t nbytes, int count, MPI_Datatype type, MPI_Op op,
                        int in_place)
{
    struct mt_buf send, recv;
    int rc;

    mt_buf_create(&send, kind(), nbytes, 0);
    mt_buf_create(&recv, kind(), nbytes, 16);
    mt_buf_arm(&send, nbytes, 0x55);
    mt_buf_arm(&recv, nbytes, 0x55);
    mt_buf_write(in_place ? &recv : &send, 0, in, nbytes);
    rc = MPI_Allreduce(in_place ? MPI_IN_PLACE : send.ptr, recv.ptr, count,
                       type, op, MPI_COMM_WORLD);
    mt_check(rc == MPI_SUCCESS, "%s returned %d", what, rc);
    mt_check(mt_buf_differs(&recv, 0, want, nbytes) < 0,
             "%s, memory %d, in place %d: wrong from byte %lld on", what,
             memory, in_place, mt_buf_differs(&recv, 0, want, nbytes));
    mt_check(mt_buf_guarded(&recv, nbytes) && mt_buf_guarded(&send, nbytes),
             "%s: guard bytes are gone", what);
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

/* --- integers --------------------------------------------------------------
 */

struct int_type {
    const char *name;
    MPI_Datatype type;
    int size, is_signed;
};

enum { SUM, PROD, MIN, MAX, LAND, LOR, LXOR, BAND, BOR, BXOR, NOPS };

static int64_t compare(int is_signed, uint64_t a, uint64_t b)
{
    if (is_signed)
        return (int64_t)a < (int64_t)b ? -1 : (int64_t)a > (int64_t)b;
    return a < b ? -1 : a > b;
}

static uint64_t apply(int op, int is_signed, uint64_t a, uint64_t b)
{
    switch (op) {
    case SUM:
        return a + b;
    case PROD:
        return a * b;
    case MIN:
        return compare(is_signed, a, b) < 0 ? a : b;
    case MAX:
        return compare(is_signed, a, b) > 0 ? a : b;
    case LAND:
        return a && b;
    case LOR:
        return a || b;
    case LXOR:
        return !a != !b;
    case BAND:
        return a & b;
    case BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

/* The value of `size` bytes, sign-extended where the type has a sign. */
static uint64_t widen(const struct int_type *t, uint64_t raw)
{
    int unused = 64 - 8 * t->size;

    if (t->is_signed)
        return (uint64_t)((int64_t)(raw << unused) >> unused);
    return raw << unused >> unused;
}

static uint64_t input(const struct int_type *t, int op, int rank, size_t i)
{
    uint64_t h = mt_hash((uint64_t)rank, i * 11 + (size_t)op);

    if (op >= LAND && op <= LXOR && h % 3 == 0)
        h = 0; /* false often enough to matter */
    if (t->is_signed && (op == SUM || op == PROD))
        h = h % 7; /* signed overflow has no answer: 7 ranks of 6 in 8 bits */
    if (t->is_signed && op == PROD)
        h = h % 2 + 1;
    return widen(t, h);
}

static void integer_case(const struct int_type *t, int op)
{
    static const MPI_Op mpi[NOPS] = {MPI_SUM,  MPI_PROD, MPI_MIN,  MPI_MAX,
                                     MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_BAND,
                                     MPI_BOR,  MPI_BXOR};
    unsigned char in[8 * N], want[8 * N];
    size_t size = (size_t)t->size;
    char what[64];

    if (plain && !t->is_signed && (op == MIN || op == MAX))
        return; /* MPICH 4.0.2 gets these wrong */
    for (size_t i = 0; i < N; i++) {
        uint64_t acc = input(t, op, 0, i), mine = input(t, op, mt.rank, i);

        if (mt.size == 1 && op >= LAND && op <= LXOR)
            return;
        for (int r = 1; r < mt.size; r++)
            acc = widen(t, apply(op, t->is_signed, acc, input(t, op, r, i)));
        memcpy(in + i * size, &mine, size); /* little endian */
        memcpy(want + i * size, &acc, size);
    }
    snprintf(what, sizeof what, "%s, operation %d", t->name, op);
    reduce_case(what, in, want, N * size, N, t->type, mpi[op], op % 2);
}

static void integers(void)
{
    const struct int_type types[] = {
        {"signed char", MPI_SIGNED_CHAR, 1, 1},
        {"unsigned char", MPI_UNSIGNED_CHAR, 1, 0},
        {"short", MPI_SHORT, 2, 1},
        {"unsigned short", MPI_UNSIGNED_SHORT, 2, 0},
        {"int", MPI_INT, 4, 1},
        {"unsigned", MPI_UNSIGNED, 4, 0},
        {"long", MPI_LONG, 8, 1},
        {"unsigned long", MPI_UNSIGNED_LONG, 8, 0},
        {"long long", MPI_LONG_LONG, 8, 1},
        {"int8", MPI_INT8_T, 1, 1},
        {"uint8", MPI_UINT8_T, 1, 0},
        {"int16", MPI_INT16_T, 2, 1},
        {"uint16", MPI_UINT16_T, 2, 0},
        {"int32", MPI_INT32_T, 4, 1},
        {"uint32", MPI_UINT32_T, 4, 0},
        {"int64", MPI_INT64_T, 8, 1},
        {"uint64", MPI_UINT64_T, 8, 0},
        {"Fortran integer", MPI_INTEGER, 4, 1},
    };

    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int op = 0; op < NOPS; op++)
            integer_case(&types[t], op);
}

/* --- user functions --------------------------------------------------------
 */

struct mat {
    uint32_t a, b, c, d; /* 2 x 2, modulo 65521 */
};

static struct mat mat_mul(struct mat x, struct mat y)
{
    const uint32_t m = 65521;

    return (struct mat){(x.a * y.a % m + x.b * y.c % m) % m,
                        (x.a * y.b % m + x.b * y.d % m) % m,
                        (x.c * y.a % m + x.d * y.c % m) % m,
                        (x.c * y.b % m + x.d * y.d % m) % m};
}

/* The operands must be memory that a CPU may read and write. */
static void multiply(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const struct mat *x = in;
    struct mat *y = inout;

    (void)type;
    for (int i = 0; i < *len; i++)
        y[i] = mat_mul(x[i], y[i]);
}

static void add_twice(void *in, void *inout, int *len, MPI_Datatype *type)
{
    const double *x = in;
    double *y = inout;

    mt_check(*type == MPI_DOUBLE, "the user function got another type");
    for (int i = 0; i < *len; i++)
        y[i] += x[i];
}

static struct mat mat_input(int rank, size_t i)
{
    uint64_t h = mt_hash((uint64_t)rank + 50, i);

    return (struct mat){h & 0xfff, h >> 12 & 0xfff, h >> 24 & 0xfff,
                        h >> 36 & 0xfff};
}

static uint64_t reached_mpi(void)
{
    struct mt_mpi_counts counts = {{0}};

    if (mt_counts_present())
        mt_counts_mpi(&counts);
    return counts.calls[MT_ALLREDUCE];
}

static void non_commutative(int n)
{
    size_t nbytes = (size_t)n * sizeof(struct mat);
    struct mat *in = mt_alloc(nbytes), *want = mt_alloc(nbytes);
    uint64_t before = reached_mpi();
    MPI_Datatype type;
    MPI_Op op;

    MPI_Type_contiguous(4, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 0, &op);
    for (int i = 0; i < n; i++) {
        in[i] = mat_input(mt.rank, (size_t)i);
        want[i] = mat_input(0, (size_t)i);
        for (int r = 1; r < mt.size; r++)
            want[i] = mat_mul(want[i], mat_input(r, (size_t)i));
    }
    for (int in_place = 0; in_place < 2; in_place++)
        reduce_case("2x2 matrices in rank order", in, want, nbytes, n, type, op,
                    in_place);
    if (mt_counts_present())
        mt_check(reached_mpi() == before + 2,
                 "a user operation belongs to MPI: %lld calls reached it",
                 (long long)(reached_mpi() - before));
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    free(in);
    free(want);
}

static void user_on_basic(int n)
{
    size_t nbytes = (size_t)n * sizeof(double);
    double *in = mt_alloc(nbytes), *want = mt_alloc(nbytes);
    MPI_Op op;

    MPI_Op_create(add_twice, 1, &op);
    for (int i = 0; i < n; i++) {
        in[i] = mt.rank + i;
        want[i] = mt.size * (mt.size - 1) / 2.0 + (double)mt.size * i;
    }
    reduce_case("user sum of doubles", in, want, nbytes, n, MPI_DOUBLE, op, 0);
    MPI_Op_free(&op);
    free(in);
    free(want);
}

/* --- pair types ------------------------------------------------------------
 */

struct pair_type {
    const char *name;
    MPI_Datatype type;
    size_t extent, index_at;
    int value_size, is_float;
};

static void put_pair(const struct pair_type *t, unsigned char *at, int v,
                     int index)
{
    float f = (float)v;
    double d = v;
    int64_t wide = v;

    memset(at, 0, t->extent);
    if (t->is_float)
        memcpy(at, t->value_size == 4 ? (void *)&f : (void *)&d,
               (size_t)t->value_size);
    else
        memcpy(at, &wide, (size_t)t->value_size);
    memcpy(at + t->index_at, &index, sizeof index);
}

/* Ties are common: the lowest index wins. */
static int pair_value(int rank, size_t i)
{
    return (int)(mt_hash((uint64_t)rank + 9, i) % 4) - 2;
}

static void pair_case(const struct pair_type *t, int maxloc)
{
    unsigned char in[16 * N], want[16 * N], got[16 * N];
    struct mt_buf buf;
    size_t nbytes = N * t->extent;

    for (size_t i = 0; i < N; i++) {
        int best = 0;

        for (int r = 1; r < mt.size; r++) {
            int a = pair_value(r, i), b = pair_value(best, i);

            best = maxloc ? (a > b ? r : best) : (a < b ? r : best);
        }
        put_pair(t, in + i * t->extent, pair_value(mt.rank, i), mt.rank);
        put_pair(t, want + i * t->extent, pair_value(best, i), best);
    }
    mt_buf_create(&buf, kind(), nbytes, 0);
    mt_buf_arm(&buf, nbytes, 0);
    mt_buf_write(&buf, 0, in, nbytes);
    mt_check(MPI_Allreduce(MPI_IN_PLACE, buf.ptr, N, t->type,
                           maxloc ? MPI_MAXLOC : MPI_MINLOC,
                           MPI_COMM_WORLD) == MPI_SUCCESS,
             "%s returned an error", t->name);
    mt_buf_read(&buf, 0, got, nbytes);
    for (size_t i = 0; i < N; i++) {
        const unsigned char *g = got + i * t->extent, *w = want + i * t->extent;

        mt_check(!memcmp(g, w, (size_t)t->value_size) &&
                     !memcmp(g + t->index_at, w + t->index_at, sizeof(int)),
                 "%s %s, memory %d: pair %zu is wrong", t->name,
                 maxloc ? "MAXLOC" : "MINLOC", memory, i);
    }
    mt_check(mt_buf_guarded(&buf, nbytes), "%s: guard bytes are gone", t->name);
    mt_buf_destroy(&buf);
}

static void pairs(void)
{
    const struct pair_type types[] = {
        {"FLOAT_INT", MPI_FLOAT_INT, 8, 4, 4, 1},
        {"DOUBLE_INT", MPI_DOUBLE_INT, 16, 8, 8, 1},
        {"LONG_INT", MPI_LONG_INT, 16, 8, 8, 0},
        {"SHORT_INT", MPI_SHORT_INT, 8, 4, 2, 0},
        {"2INT", MPI_2INT, 8, 4, 4, 0},
    };

    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        pair_case(&types[t], 0);
        pair_case(&types[t], 1);
    }
}

/* --- what no engine reduces, and complex floats ----------------------------
 */

static void long_doubles(void)
{
    long double in[N], got[N];
    struct mt_buf buf;

    memset(in, 0, sizeof in); /* six bytes of sixteen are padding */
    for (int i = 0; i < N; i++)
        in[i] = mt.rank + i;
    mt_buf_create(&buf, kind(), sizeof in, 0);
    mt_buf_arm(&buf, sizeof in, 0);
    mt_buf_write(&buf, 0, in, sizeof in);
    MPI_Allreduce(MPI_IN_PLACE, buf.ptr, N, MPI_LONG_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    mt_buf_read(&buf, 0, got, sizeof got);
    for (int i = 0; i < N; i++)
        mt_check(got[i] ==
                     mt.size * (mt.size - 1) / 2.0L + (long double)mt.size * i,
                 "long double %d is wrong", i);
    mt_check(mt_buf_guarded(&buf, sizeof in), "guard bytes are gone");
    mt_buf_destroy(&buf);
}

static void float_complex(void)
{
    float complex in[N], want[N];

    for (int i = 0; i < N; i++) {
        in[i] = CMPLXF((float)(mt.rank + i), (float)(mt.rank - i));
        want[i] = CMPLXF((float)(mt.size * (mt.size - 1) / 2 + mt.size * i),
                         (float)(mt.size * (mt.size - 1) / 2 - mt.size * i));
    }
    reduce_case("float complex", in, want, sizeof in, N, MPI_C_FLOAT_COMPLEX,
                MPI_SUM, 0);
}

static void bools_and_bytes(void)
{
    _Bool in[N], want[N];
    unsigned char bytes[N], bytes_want[N];

    for (size_t i = 0; i < N; i++) {
        in[i] = mt_hash((uint64_t)mt.rank, i) % 3 != 0;
        want[i] = 1;
        bytes[i] = (unsigned char)mt_hash((uint64_t)mt.rank, i);
        bytes_want[i] = 0xff;
        for (int r = 0; r < mt.size; r++) {
            want[i] = want[i] && mt_hash((uint64_t)r, i) % 3 != 0;
            bytes_want[i] &= (unsigned char)mt_hash((uint64_t)r, i);
        }
    }
    reduce_case("C bool", in, want, N, N, MPI_C_BOOL, MPI_LAND, 0);
    reduce_case("byte", bytes, bytes_want, N, N, MPI_BYTE, MPI_BAND, 1);
}

/* --- large-count forms -----------------------------------------------------
 */

static void large_count_forms(void)
{
    struct mt_buf send, recv;
    double mine[N], all[64 * N], sum[N];

    for (int i = 0; i < N; i++) {
        mine[i] = mt.rank * 100 + i;
        sum[i] = 100.0 * (mt.size * (mt.size - 1) / 2) + (double)mt.size * i;
        for (int r = 0; r < mt.size; r++)
            all[r * N + i] = r * 100 + i;
    }
    mt_buf_create(&send, kind(), sizeof mine, 0);
    mt_buf_create(&recv, kind(), sizeof all, 0);
    mt_buf_arm(&send, sizeof mine, 0);
    mt_buf_arm(&recv, sizeof all, 0);
    mt_buf_write(&send, 0, mine, sizeof mine);
    MPI_Allreduce_c(send.ptr, recv.ptr, (MPI_Count)N, MPI_DOUBLE, MPI_SUM,
                    MPI_COMM_WORLD);
    mt_check(mt_buf_differs(&recv, 0, sum, sizeof sum) < 0, "Allreduce_c");
    MPI_Allgather_c(send.ptr, (MPI_Count)N, MPI_DOUBLE, recv.ptr, (MPI_Count)N,
                    MPI_DOUBLE, MPI_COMM_WORLD);
    mt_check(mt_buf_differs(&recv, 0, all, sizeof mine * (size_t)mt.size) < 0,
             "Allgather_c");
    MPI_Bcast_c(send.ptr, (MPI_Count)N, MPI_DOUBLE, mt.size - 1,
                MPI_COMM_WORLD);
    mt_check(mt_buf_differs(&send, 0, all + (mt.size - 1) * N, sizeof mine) < 0,
             "Bcast_c");
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

int main(int argc, char **argv)
{
    mt_init();
    plain = mt_option(argc, argv, "plain", NULL) != NULL;
    if (mt_option(argc, argv, "gpu", NULL)) {
        mt_cuda_open(); /* now: the host cases are the engine's too */
        memories = 3;
    }
    for (memory = 0; memory < memories; memory++) {
        integers();
        non_commutative(5);
        non_commutative(3000);
        user_on_basic(7);
        user_on_basic(20000);
        pairs();
        long_doubles();
        float_complex();
        bools_and_bytes();
        large_count_forms();
    }
    return mt_finish();
}
