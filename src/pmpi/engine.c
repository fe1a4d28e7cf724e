/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c - loads libcoax-engine.so from beside libcoax.so, on first use.
 *
 * Loading brings UCX's constructors; by then MPI has brought its own UCX and
 * the loader reuses it. UCX takes signal handlers: the program's are put back
 * (design rule 9). */
#include "pmpi/front.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/signals.h"

static struct cx_engine_api api;
static enum { NOT_TRIED, LOADED, FAILED } state;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char failure[1024];

/* --- the poke: one pending receive that nobody will ever send to ---------- */

static MPI_Comm poke_comm = MPI_COMM_NULL;
static MPI_Request poke_req = MPI_REQUEST_NULL;
static char poke_byte;

static int make_poke_comm(void)
{
    if (cx_session_count() > 0)
        return cx_session_self(&poke_comm);
    /* A split, not a dup: dup runs the attribute callbacks of others. */
    return cx_mpi.Comm_split(MPI_COMM_SELF, 0, 0, &poke_comm) == MPI_SUCCESS;
}

static void poke_begin(void)
{
    if (!make_poke_comm() ||
        cx_mpi.Comm_set_errhandler(poke_comm, MPI_ERRORS_RETURN) != MPI_SUCCESS)
        cx_warn("cannot make a communicator to drive MPI by while Coax waits: "
                "programs with messages in flight may hang");
}

/* Not where this process is alone: MPICH 4.0.2 has not started its network in
 * a session of one process, and MPI_Test crashes. */
static void poke(void)
{
    int done;

    if (!cx_front.has_peers || poke_comm == MPI_COMM_NULL)
        return;
    if (poke_req == MPI_REQUEST_NULL &&
        cx_mpi.Irecv(&poke_byte, 1, MPI_BYTE, 0, 0, poke_comm, &poke_req) !=
            MPI_SUCCESS)
        return;
    cx_mpi.Test(&poke_req, &done, MPI_STATUS_IGNORE);
}

static void poke_end(void)
{
    if (poke_req != MPI_REQUEST_NULL) {
        cx_mpi.Cancel(&poke_req);
        cx_mpi.Wait(&poke_req, MPI_STATUS_IGNORE);
    }
    if (poke_comm != MPI_COMM_NULL)
        cx_mpi.Comm_free(&poke_comm);
    cx_session_release();
}

/* MPI_Reduce_local has no communicator: an error of it would end the job. The
 * same check stands in front of this reduction over one rank, and returns. */
static int accepted(MPI_Datatype type, MPI_Op op)
{
    char in[64] = {0}, out[64];
    MPI_Request req;

    return cx_mpi.Iallreduce(in, out, 1, type, op, poke_comm, &req) ==
               MPI_SUCCESS &&
           cx_mpi.Wait(&req, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* The engine has the elements as MPI packs them. */
static enum cx_status reduce_padded(const void *in, void *inout,
                                    struct cx_buffer *x, MPI_Op op)
{
    struct cx_buffer y = *x;
    enum cx_status status = CX_ERR_NOMEM;

    x->addr = cx_alloc(x->span, 1);
    y.addr = cx_alloc(y.span, 1);
    if (x->addr != NULL && y.addr != NULL)
        status = cx_buffer_unpack(x, in);
    if (status == CX_OK)
        status = cx_buffer_unpack(&y, inout);
    if (status == CX_OK && cx_mpi.Reduce_local(x->addr, y.addr, (int)x->count,
                                               x->type, op) != MPI_SUCCESS)
        status = CX_DECLINED;
    if (status == CX_OK)
        status = cx_buffer_pack(&y, inout);
    cx_free(x->addr);
    cx_free(y.addr);
    return status;
}

static enum cx_status reduce_local(const void *in, void *inout, size_t count,
                                   enum cx_dtype dtype, enum cx_redop op)
{
    MPI_Datatype type = cx_dtype_to_mpi(dtype);
    MPI_Op mpi_op = cx_redop_to_mpi(op);
    struct cx_buffer layout;

    if (type == MPI_DATATYPE_NULL || !cx_redop_valid(op, dtype) ||
        !accepted(type, mpi_op) ||
        cx_buffer_init(&layout, NULL, (MPI_Count)count, type) != CX_OK)
        return CX_DECLINED;
    if (layout.size != layout.extent)
        return reduce_padded(in, inout, &layout, mpi_op);
    return cx_mpi.Reduce_local(in, inout, (int)count, type, mpi_op) ==
                   MPI_SUCCESS
               ? CX_OK
               : CX_DECLINED;
}

static int thread_multiple(void)
{
    int level = MPI_THREAD_SINGLE;

    if (cx_mpi.Query_thread(&level) != MPI_SUCCESS)
        return 1;
    return level == MPI_THREAD_MULTIPLE;
}

static struct cx_mpi_services services = {
    .size = sizeof(services),
    .version = CX_BRIDGE_VERSION,
    .iallreduce = cx_iallreduce,
    .iexchange = cx_iexchange,
    .test = cx_test,
    .poke = poke,
    .thread_multiple = thread_multiple,
    .reduce_local = reduce_local,
};

/* The file that `address` is mapped from, as an absolute path; 1 if found. */
static int mapped_file(uintptr_t address, char *out, size_t n)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096 + 128];
    int found = 0;

    while (maps != NULL && !found && fgets(line, sizeof(line), maps) != NULL) {
        unsigned long begin = 0, end = 0;
        const char *file = strchr(line, '/');

        if (sscanf(line, "%lx-%lx", &begin, &end) != 2 || file == NULL ||
            address < begin || address >= end)
            continue;
        found =
            snprintf(out, n, "%.*s", (int)strcspn(file, "\n"), file) < (int)n;
    }
    if (maps != NULL)
        fclose(maps);
    return found;
}

const char *cx_engine_path(void)
{
    static char path[4096];
    size_t room = sizeof(path) - sizeof(CX_ENGINE_LIBRARY) - 1;
    Dl_info info;
    char *slash;

    if (path[0] != '\0')
        return path;
    if (dladdr((void *)&services, &info) == 0 || info.dli_fname == NULL)
        return CX_ENGINE_LIBRARY;
    /* Preloaded by a relative path, and the program may have changed its
     * folder since. */
    if (info.dli_fname[0] == '/' ||
        !mapped_file((uintptr_t)info.dli_fbase, path, room))
        snprintf(path, room, "%s", info.dli_fname);
    slash = strrchr(path, '/');
    strcpy(slash != NULL ? slash + 1 : path, CX_ENGINE_LIBRARY);
    return path;
}

int cx_engine_present(void)
{
    return access(cx_engine_path(), R_OK) == 0;
}

static int open_library(void)
{
    union {
        void *object;
        cx_engine_open_fn open;
    } entry;
    void *handle = dlopen(cx_engine_path(), RTLD_NOW | RTLD_LOCAL);
    enum cx_status status = CX_OK;

    if (handle == NULL) {
        snprintf(failure, sizeof(failure), "%s", dlerror());
        return 0;
    }
    entry.object = dlsym(handle, CX_ENGINE_SYMBOL);
    api.size = sizeof(api);
    api.version = CX_BRIDGE_VERSION;
    services.world_rank = cx_front.world_rank;
    if (entry.object != NULL)
        status = entry.open(&services, &api);
    if (status == CX_ERR_NOMEM || status == CX_ERR_GPU) {
        snprintf(failure, sizeof(failure), "%s",
                 api.why[0] != '\0' ? api.why : cx_status_str(status));
        return 0;
    }
    if (entry.object == NULL || status != CX_OK ||
        api.version != CX_BRIDGE_VERSION ||
        strcmp(api.build_id, COAX_BUILD_ID) != 0) {
        snprintf(failure, sizeof(failure),
                 "%s is not of the same build as libcoax.so (%s): reinstall "
                 "Coax, both files come together",
                 cx_engine_path(), COAX_BUILD_ID);
        return 0;
    }
    return 1;
}

const struct cx_engine_api *cx_engine(void)
{
    struct cx_signals saved;

    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == LOADED)
        return &api;
    pthread_mutex_lock(&lock);
    if (state == NOT_TRIED) {
        cx_signals_save(&saved);
        if (open_library()) {
            if (poke_comm == MPI_COMM_NULL)
                poke_begin();
            __atomic_store_n(&state, LOADED, __ATOMIC_RELEASE);
        } else {
            state = FAILED;
        }
        cx_signals_restore(&saved);
    }
    pthread_mutex_unlock(&lock);
    return state == LOADED ? &api : NULL;
}

unsigned cx_engine_errors(void)
{
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == LOADED ? api.errors()
                                                               : 0;
}

const char *cx_engine_error(void)
{
    return failure;
}

MPI_Comm cx_engine_self_comm(void)
{
    /* In a program of sessions only there is no MPI_COMM_SELF to use. */
    if (poke_comm == MPI_COMM_NULL && cx_session_count() > 0 &&
        !cx_front_world_up()) {
        pthread_mutex_lock(&lock);
        if (poke_comm == MPI_COMM_NULL)
            poke_begin();
        pthread_mutex_unlock(&lock);
    }
    return poke_comm;
}

void cx_engine_leave_world(void)
{
    if (state != LOADED)
        return;
    poke_end();
    poke_begin();
}

void cx_engine_quiesce(void)
{
    if (state == LOADED)
        api.quiesce();
    poke_end();
}

void cx_engine_close(void)
{
    if (state != LOADED)
        return;
    state = FAILED;
    api.close();
}
