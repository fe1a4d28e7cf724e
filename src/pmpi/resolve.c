/* SPDX-License-Identifier: BSD-3-Clause */
/* resolve.c - finds the MPI library behind the preload and checks its ABI.
 *
 * RTLD_NEXT finds it in ordinary programs. Where a program loaded MPI by
 * dlopen with RTLD_LOCAL (mpi4py does), NEXT finds nothing: then the loaded
 * objects are walked for a known MPI library. Nothing is ever loaded. */
#include "pmpi/front.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/log.h"

struct cx_real cx_mpi;
_Atomic int cx_front_mode;

_Atomic cx_fn cx_raw_known[CX_NWRAPPED]; /* filled as they are needed */

static void *mpi_handle; /* of the fallback; kept for the process */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const pmpi_names[CX_NWRAPPED] = {
#define CX_WRAP(name) [CX_WRAP_##name] = "PMPI_" #name,
#include "pmpi/wrap.def"
#undef CX_WRAP
};

static int looks_like_mpi(const char *path)
{
    static const char *const stems[] = {"libmpich", "libmpi.so", "libmpi_",
                                        "libmpicray", "libpmpi"};
    const char *base = strrchr(path, '/');
    size_t i;

    base = base != NULL ? base + 1 : path;
    for (i = 0; i < sizeof(stems) / sizeof(stems[0]); i++) {
        if (strncmp(base, stems[i], strlen(stems[i])) == 0)
            return 1;
    }
    return 0;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    void *handle;

    (void)size;
    (void)arg;
    if (info->dlpi_name == NULL || !looks_like_mpi(info->dlpi_name))
        return 0;
    handle = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == NULL)
        return 0;
    if (dlsym(handle, "PMPI_Allreduce") != NULL) {
        mpi_handle = handle;
        return 1;
    }
    dlclose(handle);
    return 0;
}

cx_fn cx_resolve_symbol(const char *name)
{
    union {
        void *object; /* what dlsym returns; ISO C has no such conversion */
        cx_fn function;
    } symbol;

    symbol.object = dlsym(RTLD_NEXT, name);
    if (symbol.object == NULL && mpi_handle == NULL)
        dl_iterate_phdr(visit_object, NULL);
    if (symbol.object == NULL && mpi_handle != NULL)
        symbol.object = dlsym(mpi_handle, name);
    return symbol.function;
}

int cx_launcher_rank(void)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK",
                                        "PMIX_RANK", "SLURM_PROCID"};
    size_t i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *text = getenv(names[i]);

        if (text != NULL)
            return atoi(text);
    }
    return -1;
}

/* Speak on one rank only; launchers say which we are before MPI is up. */
static int speaks(void)
{
    return cx_launcher_rank() <= 0;
}

/* No argument of the call below is a handle: it is safe under every MPI. */
static int is_mpich_abi(char *version, size_t n)
{
    static const char *const families[] = {"MPICH", "Intel(R) MPI", "MVAPICH",
                                           "ParaStation"};
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int len = 0;
    size_t i;

    snprintf(version, n, "unknown");
    if (cx_mpi.Get_library_version == NULL)
        return 0;
    cx_mpi.Get_library_version(text, &len);
    text[strcspn(text, "\n")] = '\0';
    snprintf(version, n, "%.80s", text);
    for (i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        if (strcasestr(text, families[i]) != NULL)
            return 1;
    }
    return 0;
}

static void fill_table(void)
{
#define CX_REAL(name)                                                          \
    cx_mpi.name = (__typeof__(cx_mpi.name))cx_resolve_symbol("PMPI_" #name);
#include "pmpi/real.def"
    CX_REAL(Pack_c)
    CX_REAL(Unpack_c)
    CX_REAL(Type_get_envelope_c)
    CX_REAL(Type_get_contents_c)
    CX_REAL(File_call_errhandler)
    CX_REAL(Allreduce)
    CX_REAL(Bcast)
    CX_REAL(Allgather)
    CX_REAL(Allreduce_c)
    CX_REAL(Bcast_c)
    CX_REAL(Allgather_c)
    CX_REAL(Session_init)
    CX_REAL(Session_finalize)
    CX_REAL(Group_from_session_pset)
    CX_REAL(Comm_create_from_group)
    CX_REAL(Group_free)
#undef CX_REAL
    cx_mpi.gpu_aware =
        (int (*)(void))cx_resolve_symbol("MPIX_Query_cuda_support");
    cx_mpi.gpu_query =
        (int (*)(int, int *))cx_resolve_symbol("MPIX_GPU_query_support");
}

/* The first function of the table that is missing, or NULL. */
static const char *missing_function(void)
{
#define CX_REAL(name)                                                          \
    if (cx_mpi.name == NULL)                                                   \
        return "PMPI_" #name;
#include "pmpi/real.def"
#undef CX_REAL
    return NULL;
}

/* A process that forks before MPI is up may leave MPI to its child. */
static void in_child(void)
{
    if (!cx_front_is_up())
        return;
    atomic_store(&cx_front_mode, CX_FRONT_INERT);
    cx_watch_end();
}

static void resolve_once(void)
{
    char version[96];
    int mode = CX_FRONT_INERT;

    if (getauxval(AT_SECURE) != 0) {
        atomic_store(&cx_front_mode, mode);
        return;
    }
    fill_table();
    if (!is_mpich_abi(version, sizeof(version))) {
        if (speaks())
            cx_warn("libcoax.so is for the MPICH ABI and this program runs on "
                    "'%s': Coax is inactive (use an MPICH, or remove the "
                    "preload)",
                    version);
    } else if (missing_function() != NULL) {
        if (speaks())
            cx_warn("%s has no %s: Coax is inactive", version,
                    missing_function());
    } else {
        mode = CX_FRONT_READY;
    }
    if (mode == CX_FRONT_READY && pthread_atfork(NULL, NULL, in_child) != 0)
        mode = CX_FRONT_INERT;
    atomic_store(&cx_front_mode, mode);
}

enum cx_front_mode cx_resolve(void)
{
    int mode = atomic_load_explicit(&cx_front_mode, memory_order_acquire);

    if (mode != CX_FRONT_NEW)
        return (enum cx_front_mode)mode;
    pthread_once(&once, resolve_once);
    return (enum cx_front_mode)atomic_load(&cx_front_mode);
}

static int no_mpi(void)
{
    cx_error("a call to MPI was made but no MPI library is loaded: check how "
             "the program links or loads its MPI");
    return MPI_ERR_OTHER;
}

static int no_function(void)
{
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

/* The function, or NULL. */
static cx_fn look_up(enum cx_wrapped which)
{
    cx_fn function =
        atomic_load_explicit(&cx_raw_known[which], memory_order_relaxed);

    if (function != NULL)
        return function;
    cx_resolve();
    function = cx_resolve_symbol(pmpi_names[which]);
    if (function != NULL)
        atomic_store_explicit(&cx_raw_known[which], function,
                              memory_order_relaxed);
    return function;
}

int cx_raw_exists(enum cx_wrapped which)
{
    return look_up(which) != NULL;
}

cx_fn cx_raw(enum cx_wrapped which)
{
    cx_fn function = look_up(which);

    if (function != NULL)
        return function;
    if (cx_mpi.Initialized == NULL)
        return (cx_fn)no_mpi;
    cx_error("%s was called, which the MPI library of this program does not "
             "have: check which MPI the program was built for",
             pmpi_names[which] + 1);
    return (cx_fn)no_function;
}
