/* SPDX-License-Identifier: BSD-3-Clause */
/* tinympi.c - an MPI of the MPICH ABI for one rank and few functions: one that
 * brings no UCX, so that Coax's engine is the first in the process to load it.
 * Loaded with MT_TINY_REPORT set it prints, at the end, whether UCX came. */
#include <link.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The symbols MPI_name and PMPI_name, one body. */
#define BOTH(name)                                                             \
    __attribute__((alias("PMPI_" #name),                                       \
                   visibility("default"))) __typeof__(MPI_##name) MPI_##name;

enum { MAX_KEYS = 32 };

static struct {
    MPI_Comm_delete_attr_function *gone;
    void *value, *extra;
    MPI_Comm comm;
    int set;
} keys[MAX_KEYS];
static int nkeys, phase; /* 0 before MPI_Init, 1 up, 2 finalized */

static int find_ucx(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(int *)arg |= strstr(info->dlpi_name, "libucp.so") != NULL;
    return 0;
}

static int has_ucx(void)
{
    int found = 0;

    dl_iterate_phdr(find_ucx, &found);
    return found;
}

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (has_ucx())
        abort(); /* then this tests nothing */
    phase = 1;
    return MPI_SUCCESS;
}
BOTH(Init)

int PMPI_Init_thread(int *argc, char ***argv, int want, int *got)
{
    *got = want < MPI_THREAD_SINGLE ? want : MPI_THREAD_SINGLE;
    return PMPI_Init(argc, argv);
}
BOTH(Init_thread)

static void delete_all(MPI_Comm comm)
{
    for (int i = nkeys - 1; i >= 0; i--) {
        if (!keys[i].set || keys[i].comm != comm)
            continue;
        keys[i].set = 0;
        keys[i].gone(comm, i, keys[i].value, keys[i].extra);
    }
}

int PMPI_Finalize(void)
{
    if (!has_ucx())
        fprintf(stderr, "tinympi: UCX was never loaded\n");
    delete_all(MPI_COMM_SELF);
    delete_all(MPI_COMM_WORLD);
    phase = 2;
    return MPI_SUCCESS;
}
BOTH(Finalize)

int PMPI_Initialized(int *flag)
{
    *flag = phase > 0;
    return MPI_SUCCESS;
}

int PMPI_Finalized(int *flag)
{
    *flag = phase == 2;
    return MPI_SUCCESS;
}

int PMPI_Query_thread(int *level)
{
    *level = MPI_THREAD_SINGLE;
    return MPI_SUCCESS;
}

int PMPI_Get_library_version(char *version, int *length)
{
    *length = sprintf(version, "MPICH Version: 4.0.2 (tinympi)");
    return MPI_SUCCESS;
}

int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}
BOTH(Comm_rank)

int PMPI_Comm_size(MPI_Comm comm, int *size)
{
    (void)comm;
    *size = 1;
    return MPI_SUCCESS;
}
BOTH(Comm_size)

int PMPI_Comm_test_inter(MPI_Comm comm, int *flag)
{
    (void)comm;
    *flag = 0;
    return MPI_SUCCESS;
}

int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out)
{
    (void)color;
    (void)key;
    *out = comm;
    return MPI_SUCCESS;
}

int PMPI_Comm_free(MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    (void)comm;
    (void)handler;
    return MPI_SUCCESS;
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                            MPI_Comm_delete_attr_function *gone, int *key,
                            void *extra)
{
    (void)copy;
    if (nkeys == MAX_KEYS)
        return MPI_ERR_OTHER;
    keys[nkeys].gone = gone;
    keys[nkeys].extra = extra;
    *key = nkeys++;
    return MPI_SUCCESS;
}

int PMPI_Comm_set_attr(MPI_Comm comm, int key, void *value)
{
    keys[key].comm = comm;
    keys[key].value = value;
    keys[key].set = 1;
    return MPI_SUCCESS;
}

int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *flag)
{
    *flag = keys[key].set && keys[key].comm == comm;
    if (*flag)
        *(void **)value = keys[key].value;
    return MPI_SUCCESS;
}

/* An MPICH handle of a basic type has its size in the second byte. */
static MPI_Count size_of(MPI_Datatype type)
{
    return type >> 8 & 0xff;
}

int PMPI_Type_size_x(MPI_Datatype type, MPI_Count *size)
{
    *size = size_of(type);
    return MPI_SUCCESS;
}

int PMPI_Type_get_extent_x(MPI_Datatype type, MPI_Count *low, MPI_Count *extent)
{
    *low = 0;
    *extent = size_of(type);
    return MPI_SUCCESS;
}

int PMPI_Type_get_true_extent_x(MPI_Datatype type, MPI_Count *low,
                                MPI_Count *extent)
{
    return PMPI_Type_get_extent_x(type, low, extent);
}

int PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                   MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    (void)op;
    (void)comm;
    if (sendbuf != MPI_IN_PLACE)
        memcpy(recvbuf, sendbuf, (size_t)(count * size_of(type)));
    return MPI_SUCCESS;
}
BOTH(Allreduce)

int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root,
               MPI_Comm comm)
{
    (void)buffer;
    (void)count;
    (void)type;
    (void)root;
    (void)comm;
    return MPI_SUCCESS;
}
BOTH(Bcast)

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   MPI_Comm comm)
{
    (void)recvcount;
    (void)recvtype;
    return PMPI_Allreduce(sendbuf, recvbuf, sendcount, sendtype, MPI_SUM, comm);
}
BOTH(Allgather)

int PMPI_Reduce(const void *sendbuf, void *recvbuf, int count,
                MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm)
{
    (void)root;
    return PMPI_Allreduce(sendbuf, recvbuf, count, type, op, comm);
}
BOTH(Reduce)

int PMPI_Abort(MPI_Comm comm, int code)
{
    (void)comm;
    exit(code);
}
BOTH(Abort)
