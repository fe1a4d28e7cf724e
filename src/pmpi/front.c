/* SPDX-License-Identifier: BSD-3-Clause */
/* front.c - the process-wide life of the front: from the first call after
 * MPI_Init to the callback on MPI_COMM_SELF, and inert before and after. */
#include "pmpi/front.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"

struct cx_front cx_front = {.world_rank = -1};

static _Atomic int up; /* settings are loaded, MPI has been seen alive */
static pthread_mutex_t begin_lock = PTHREAD_MUTEX_INITIALIZER;
static int self_keyval = MPI_KEYVAL_INVALID;

static int node_has_gpu(void)
{
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/nvidia0",
                                        "/dev/dxg"};
    size_t i;

    if (cx_front.settings.gpu != CX_GPU_AUTO)
        return cx_front.settings.gpu == CX_GPU_YES;
    for (i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        if (access(nodes[i], F_OK) == 0)
            return 1;
    }
    return 0;
}

/* Runs inside MPI_Finalize, with MPI still usable. Callbacks on MPI_COMM_SELF
 * run last set first: hung up in MPI_Init, this one comes after those of the
 * program, which may still call collectives. Wrappers stay valid afterwards:
 * they pass. */
static int self_deleted(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    if (atomic_load(&cx_front_mode) != CX_FRONT_READY)
        return MPI_SUCCESS;
    if (cx_session_count() > 0)
        cx_engine_leave_world();
    else
        cx_front_teardown();
    return MPI_SUCCESS;
}

void cx_front_teardown(void)
{
    if (!atomic_load(&up) || cx_front.down)
        return;
    cx_behind_check(MPI_COMM_NULL, "MPI_Finalize");
    cx_front.down = 1;
    cx_watch_end();
    if (cx_front.settings.stats)
        cx_stats_print();
    cx_engine_quiesce();
}

static void hook_teardown(void)
{
    if (cx_mpi.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, self_deleted,
                                  &self_keyval, NULL) != MPI_SUCCESS ||
        cx_mpi.Comm_set_attr(MPI_COMM_SELF, self_keyval, NULL) != MPI_SUCCESS)
        cx_warn("cannot set an attribute on MPI_COMM_SELF: nothing will be "
                "released at the end");
}

/* Open MPI's mpirun starts an MPICH program as so many jobs of one rank. */
static void warn_of_launcher(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    if (cx_front.world_size == 1 && size != NULL && atoi(size) > 1 &&
        rank != NULL && atoi(rank) == 0)
        cx_warn("this MPICH program was started by Open MPI's mpirun: each of "
                "the %s processes is a job of its own (use the launcher of its "
                "MPI, mpirun.mpich on Debian)",
                size);
}

int cx_front_world_up(void)
{
    int yes = 0, over = 1;

    return cx_resolve() == CX_FRONT_READY &&
           cx_mpi.Initialized(&yes) == MPI_SUCCESS && yes &&
           cx_mpi.Finalized(&over) == MPI_SUCCESS && !over;
}

/* MPI_COMM_WORLD must not be touched by a program of sessions only. */
static void find_rank(int world)
{
    if (!world) {
        cx_front.world_rank = cx_launcher_rank();
    } else {
        if (cx_mpi.Comm_rank(MPI_COMM_WORLD, &cx_front.world_rank) !=
            MPI_SUCCESS)
            cx_front.world_rank = -1;
        if (cx_mpi.Comm_size(MPI_COMM_WORLD, &cx_front.world_size) !=
            MPI_SUCCESS)
            cx_front.world_size = 0;
    }
}

static void load(int world)
{
    struct cx_settings *s = &cx_front.settings;

    cx_settings_load(s);
    find_rank(world);
    if (cx_log_init((enum cx_log_level)s->debug, s->debug_file,
                    cx_front.world_rank) != 0 &&
        cx_front.world_rank == 0)
        cx_warn("cannot open COAX_DEBUG_FILE=%s: logging to stderr",
                s->debug_file);
    /* Rank 0 speaks for the job; what only others have is found when they
     * agree on a communicator of all. */
    if (s->nproblems > 0 && cx_front.world_rank == 0)
        cx_warn("%s", s->problem);
    warn_of_launcher();
    cx_front.node_has_gpu = node_has_gpu();
    cx_watch_begin();
    if (world)
        hook_teardown();
    atomic_store_explicit(&up, 1, memory_order_release);
}

int cx_front_is_up(void)
{
    return atomic_load(&up);
}

int cx_front_begin(void)
{
    int world;

    if (atomic_load_explicit(&up, memory_order_acquire))
        return !cx_front.down &&
               atomic_load_explicit(&cx_front_mode, memory_order_relaxed) ==
                   CX_FRONT_READY;
    if (cx_resolve() != CX_FRONT_READY)
        return 0;
    world = cx_front_world_up();
    if (!world && cx_session_count() == 0)
        return 0;
    pthread_mutex_lock(&begin_lock);
    if (!atomic_load(&up))
        load(world);
    pthread_mutex_unlock(&begin_lock);
    return !cx_front.down;
}

void cx_front_world_begin(void)
{
    if (!cx_front_begin() || self_keyval != MPI_KEYVAL_INVALID)
        return;
    pthread_mutex_lock(&begin_lock);
    find_rank(1);
    hook_teardown();
    pthread_mutex_unlock(&begin_lock);
}

void cx_front_after_finalize(void)
{
    if (!atomic_load(&up) || atomic_load(&cx_front_mode) != CX_FRONT_READY ||
        cx_session_count() > 0)
        return;
    cx_front.down = 1;
    cx_watch_end();
    cx_engine_close();
    cx_log_fini();
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(unsigned long long *)arg = info->dlpi_adds;
    return 1; /* the counter is the same in every entry */
}

int cx_front_libcuda(void)
{
    static _Atomic unsigned long long seen;
    static _Atomic int loaded;
    unsigned long long adds = 0;
    void *handle;

    if (atomic_load_explicit(&loaded, memory_order_relaxed))
        return 1;
    dl_iterate_phdr(count_loads, &adds);
    if (adds == atomic_load_explicit(&seen, memory_order_relaxed))
        return 0;
    handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (handle != NULL) {
        dlclose(handle);
        atomic_store(&loaded, 1);
    }
    atomic_store(&seen, adds);
    return handle != NULL;
}
