/* SPDX-License-Identifier: BSD-3-Clause */
/* corners.c - corners of MPI, each of which once went wrong on GPU buffers:
 * floating-point traps, a group that sends nothing, blocks on host and GPU in
 * one call, a mistake that MPI reports, MPI that is started in a child.
 *
 * corners --part=traps|inter|blocks|large|alias|child */
#include <fenv.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mt.h"
#include "mtbuf.h"

/* mpi.h of an MPICH declares it: */
int MPIX_Query_cuda_support(void);

enum { N = 3000 };

/* A program that traps what is invalid dies if Coax computes with NaN of its
 * own; one that looks at the flags must not find any. */
static void traps(void)
{
    double mine[N], sum[N];
    struct mt_buf buf;

    mt_buf_create(&buf, MT_DEVICE, sizeof mine, 0);
    for (int i = 0; i < N; i++)
        mine[i] = i + mt.rank;
    mt_buf_write(&buf, 0, mine, sizeof mine);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    MPI_Allreduce(MPI_IN_PLACE, buf.ptr, N, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    mt_check(fegetexcept() == (FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW),
             "traps are %x", (unsigned)fegetexcept());
    mt_check(!fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW),
             "flags are %x", (unsigned)fetestexcept(FE_ALL_EXCEPT));
    fedisableexcept(FE_ALL_EXCEPT);
    mt_buf_read(&buf, 0, sum, sizeof sum);
    mt_check(sum[7] == 7.0 * mt.size + mt.size * (mt.size - 1) / 2,
             "the sum is %g", sum[7]);
    mt_buf_destroy(&buf);
}

/* Rank 0 and the others are the groups; only one of them sends. */
static void inter(void)
{
    MPI_Comm part, between;
    int mine[N], got[N], first = mt.rank == 0, theirs;
    struct mt_buf buf;

    mt_buf_create(&buf, MT_DEVICE, sizeof mine, 0);
    MPI_Comm_split(MPI_COMM_WORLD, first, 0, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, first ? 1 : 0, 0, &between);
    MPI_Comm_remote_size(between, &theirs);
    for (int i = 0; i < N; i++)
        mine[i] = mt.rank * N + i;
    mt_buf_write(&buf, 0, mine, sizeof mine);
    if (first)
        MPI_Allgather(buf.ptr, N, MPI_INT, NULL, 0, MPI_INT, between);
    else
        MPI_Allgather(NULL, 0, MPI_INT, buf.ptr, N, MPI_INT, between);
    mt_buf_read(&buf, 0, got, sizeof got);
    for (int i = 0; i < N; i++)
        mine[i] = i;
    mt_check(memcmp(got, mine, sizeof got) == 0, "got %d, %d ...", got[0],
             got[1]);
    mt_buf_destroy(&buf);
    MPI_Comm_free(&between);
    MPI_Comm_free(&part);
}

static void check_block(const int *block, int from, const char *where)
{
    int good = 1;

    for (int i = 0; i < N; i++) {
        good &= block[2 * i] == from * N + i;
        good &= i == N - 1 || block[2 * i + 1] == -7;
    }
    mt_check(good, "the block of rank %d in %s memory is %d, %d, %d ...", from,
             where, block[0], block[1], block[2]);
}

/* One receive block with holes on the host, the rest on the GPU. */
static void blocks(void)
{
    MPI_Comm ring;
    MPI_Datatype holey, types[2], ints[2] = {MPI_INT, MPI_INT};
    int from[2] = {(mt.rank + 1) % mt.size, (mt.rank + mt.size - 1) % mt.size};
    int counts[2] = {N, N}, ones[2] = {1, 1}, mine[N], host[2 * N], got[2 * N];
    MPI_Aint none[2] = {0, 0}, at[2];
    struct mt_buf send, recv;

    mt_buf_create(&send, MT_DEVICE, sizeof mine, 0);
    mt_buf_create(&recv, MT_DEVICE, sizeof got, 0);
    for (int i = 0; i < N; i++)
        mine[i] = mt.rank * N + i;
    for (int i = 0; i < 2 * N; i++)
        host[i] = got[i] = -7;
    mt_buf_write(&send, 0, mine, sizeof mine);
    mt_buf_write(&recv, 0, got, sizeof got);
    MPI_Type_vector(N, 1, 2, MPI_INT, &holey);
    MPI_Type_commit(&holey);
    types[0] = types[1] = holey;
    MPI_Get_address(host, &at[0]);
    MPI_Get_address(recv.ptr, &at[1]);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, MPI_UNWEIGHTED, 2,
                                   from, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &ring);
    MPI_Neighbor_alltoallw_c(send.ptr, (MPI_Count[]){counts[0], counts[1]},
                             none, ints, MPI_BOTTOM,
                             (MPI_Count[]){ones[0], ones[1]}, at, types, ring);
    mt_buf_read(&recv, 0, got, sizeof got);
    check_block(host, from[0], "host");
    check_block(got, from[1], "device");
    MPI_Type_free(&holey);
    MPI_Comm_free(&ring);
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int *x = in, *y = inout;

    (void)type;
    for (int i = 0; i < 4 * *count; i++)
        y[i] += x[i];
}

/* Types made by large-count constructors, as mpi4py's are: their parts must be
 * asked for in that form, else MPI ends the job. The first two integers of each
 * of two blocks, far apart, on the host or the second on the GPU. */
static void large_type(int *first, int *second, const char *where,
                       struct mt_buf *device)
{
    MPI_Aint at[2];
    MPI_Count lengths[2] = {2, 2}, places[2];
    MPI_Datatype two;
    int got[2] = {0, 0};

    MPI_Get_address(first, &at[0]);
    MPI_Get_address(second, &at[1]);
    places[0] = at[0];
    places[1] = at[1];
    MPI_Type_create_hindexed_c(2, lengths, places, MPI_INT, &two);
    MPI_Type_commit(&two);
    MPI_Bcast(MPI_BOTTOM, 1, two, 0, MPI_COMM_WORLD);
    if (!device && mt.rank < 2)
        MPI_Sendrecv_replace(MPI_BOTTOM, 1, two, 1 - mt.rank, 0, 1 - mt.rank, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (device)
        mt_buf_read(device, 0, got, sizeof got);
    else
        memcpy(got, second, sizeof got);
    mt_check(first[0] == 1 && first[1] == 2 && got[0] == 3 && got[1] == 4,
             "%s: %d %d and %d %d", where, first[0], first[1], got[0], got[1]);
    MPI_Type_free(&two);
}

static void large(void)
{
    size_t apart = (size_t)2 << 20; /* integers */
    int *host = mt_alloc((apart + 2) * sizeof *host), four[4], sum[4];
    int there[2] = {3, 4};
    struct mt_buf buf;
    MPI_Datatype type;
    MPI_Op op;

    mt_buf_create(&buf, MT_DEVICE, sizeof there, 0);
    for (int i = 0; i < 2; i++) {
        host[i] = mt.rank == 0 ? 1 + i : 0;
        host[apart + (size_t)i] = mt.rank == 0 ? 3 + i : 0;
        there[i] = mt.rank == 0 ? 3 + i : 0;
    }
    mt_buf_write(&buf, 0, there, sizeof there);
    large_type(host, host + apart, "host and host", NULL);
    large_type(host, (void *)buf.ptr, "host and device", &buf);
    for (int i = 0; i < 4; i++)
        four[i] = mt.rank + i;
    MPI_Type_contiguous_c(4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(four, sum, 1, type, op, MPI_COMM_WORLD);
    mt_check(sum[3] == 3 * mt.size + mt.size * (mt.size - 1) / 2,
             "the sum is %d", sum[3]);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    mt_buf_destroy(&buf);
    free(host);
}

/* MPI reports this mistake and the program goes on: so it must with Coax. */
static void alias(void)
{
    struct mt_buf buf;
    int class = 0;

    mt_buf_create(&buf, MT_DEVICE, N, 0);
    mt_buf_arm(&buf, N, 1);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(
        MPI_Reduce(buf.ptr, buf.ptr, N, MPI_CHAR, MPI_BOR, 0, MPI_COMM_SELF),
        &class);
    mt_check(class != MPI_SUCCESS, "an alias is taken");
    MPI_Barrier(MPI_COMM_SELF);
    mt_buf_destroy(&buf);
}

/* The parent asks and forks; MPI is started in the child. Its exit status, or
 * -1 in the child. */
static int leave_to_child(void)
{
    int status = 0;
    pid_t pid;

    if (MPIX_Query_cuda_support() != 1)
        return 1;
    pid = fork();
    if (pid == 0)
        return -1;
    return pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
}

int main(int argc, char **argv)
{
    const char *part = mt_option(argc, argv, "part", "");
    int status = strcmp(part, "child") == 0 ? leave_to_child() : -1;

    if (status >= 0)
        return status;
    mt_init();
    mt_cuda_open();
    if (strcmp(part, "traps") == 0 || strcmp(part, "child") == 0)
        traps();
    else if (strcmp(part, "inter") == 0)
        inter();
    else if (strcmp(part, "blocks") == 0)
        blocks();
    else if (strcmp(part, "large") == 0)
        large();
    else if (strcmp(part, "alias") == 0)
        alias();
    else
        mt_die("no part '%s'", part);
    return mt_finish();
}
