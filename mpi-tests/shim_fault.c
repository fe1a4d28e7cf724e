/* SPDX-License-Identifier: BSD-3-Clause */
/* shim_fault.c - test preload: the n-th call of a function fails when Coax
 * makes it. Calls of MPI, of its UCX and of the program go through untouched.
 *
 * It stands behind libcoax.so in LD_PRELOAD, in front of libc, UCX and MPI.
 * fault.h says how it is steered. */
#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <ucp/api/ucp.h>

#include "caller.h"
#include "fault.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)
#define MAX_FAULTS 8

enum fn {
#define FAULT(id, name) FN_##id,
#include "fault.def"
#undef FAULT
    NFNS
};

static const char *const names[] = {
#define FAULT(id, name) name,
#include "fault.def"
#undef FAULT
};

struct fault {
    enum fn fn;
    unsigned long call;
    int onwards;
};

static struct fault faults[MAX_FAULTS];
static _Atomic int nfaults;
static _Atomic unsigned long calls[NFNS];

EXPORT int mt_fault_arm(const char *spec);
EXPORT unsigned long mt_fault_calls(const char *name);
EXPORT const char *mt_fault_name(int i);

static int find(const char *name, size_t n)
{
    for (int i = 0; i < NFNS; i++)
        if (strlen(names[i]) == n && !memcmp(names[i], name, n))
            return i;
    return -1;
}

static const char *parse(const char *spec, struct fault *fault)
{
    const char *colon = strchr(spec, ':');
    char *end;
    int fn = colon ? find(spec, (size_t)(colon - spec)) : -1;

    if (fn < 0)
        return NULL;
    fault->fn = (enum fn)fn;
    fault->call = strtoul(colon + 1, &end, 10);
    fault->onwards = *end == '+';
    end += fault->onwards;
    if (!fault->call || (*end && *end != ','))
        return NULL;
    return end + (*end == ',');
}

int mt_fault_arm(const char *spec)
{
    int n = 0;

    atomic_store(&nfaults, 0);
    for (int i = 0; i < NFNS; i++)
        atomic_store(&calls[i], 0);
    while (spec && *spec && n < MAX_FAULTS) {
        spec = parse(spec, &faults[n++]);
        if (!spec)
            return -1;
    }
    atomic_store(&nfaults, n);
    return spec && *spec ? -1 : 0;
}

unsigned long mt_fault_calls(const char *name)
{
    int fn = find(name, strlen(name));

    return fn < 0 ? 0 : atomic_load(&calls[fn]);
}

const char *mt_fault_name(int i)
{
    return i < NFNS ? names[i] : NULL;
}

/* One more call by Coax: must it fail? */
static int counts(enum fn fn)
{
    unsigned long n = atomic_fetch_add(&calls[fn], 1) + 1;
    int armed = atomic_load(&nfaults);

    for (int i = 0; i < armed; i++)
        if (faults[i].fn == fn &&
            (n == faults[i].call || (faults[i].onwards && n > faults[i].call)))
            return 1;
    return 0;
}

static int hit(enum fn fn, const void *caller)
{
    return mt_caller_of(caller) != MT_CALLER_OTHER && counts(fn);
}

__attribute__((constructor)) static void begin(void)
{
    const char *spec = getenv("MT_FAULT"), *only = getenv("MT_FAULT_RANK");
    const char *rank = getenv("PMI_RANK");

    if (only && rank && strcmp(only, rank)) {
        unsetenv("SIMGPU_FAIL");
        return;
    }
    if (rank && spec && mt_fault_arm(spec)) {
        fprintf(stderr, "MT_FAULT=%s: not understood\n", spec);
        _Exit(2);
    }
}

/* --- libc ------------------------------------------------------------------
 */

typedef void *(*dlsym_fn)(void *, const char *);

static dlsym_fn real_dlsym(void)
{
    static _Atomic(void *) cached;
    void *found = atomic_load(&cached);
    dlsym_fn fn;

    if (!found) {
        found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (!found)
            found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        atomic_store(&cached, found);
    }
    *(void **)&fn = found;
    return fn;
}

/* The next function of this name, kept in `*cached`. */
static void *next(_Atomic(void *) *cached, const char *name)
{
    void *found = atomic_load(cached);

    if (!found) {
        found = real_dlsym()(RTLD_NEXT, name);
        atomic_store(cached, found);
    }
    return found;
}

/* Declares `real`, the function that this one stands in front of. */
#define REAL(name)                                                             \
    static _Atomic(void *) cached;                                             \
    __typeof__(&name) real;                                                    \
    *(void **)&real = next(&cached, #name)

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    REAL(aligned_alloc);

    if (hit(FN_ALIGNED_ALLOC, CALLER)) {
        errno = ENOMEM;
        return NULL;
    }
    return real(alignment, size);
}

EXPORT void *mmap(void *addr, size_t length, int prot, int flags, int fd,
                  off_t offset)
{
    REAL(mmap);

    if (hit(FN_MMAP, CALLER)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(addr, length, prot, flags, fd, offset);
}

EXPORT FILE *open_memstream(char **ptr, size_t *size)
{
    REAL(open_memstream);

    if (hit(FN_OPEN_MEMSTREAM, CALLER)) {
        errno = ENOMEM;
        return NULL;
    }
    return real(ptr, size);
}

EXPORT ssize_t getrandom(void *buffer, size_t length, unsigned flags)
{
    REAL(getrandom);

    if (hit(FN_GETRANDOM, CALLER)) {
        errno = ENOSYS;
        return -1;
    }
    return real(buffer, length, flags);
}

/* A real failure, so that dlerror has something to say. Only loads count:
 * asking whether a library is there cannot run out of anything. The caller's
 * address matters to both functions, so they are left by a jump. */
EXPORT void *dlopen(const char *file, int mode)
{
    REAL(dlopen);

    if (!(mode & RTLD_NOLOAD) && hit(FN_DLOPEN, CALLER))
        return real("/nonexistent/library-of-a-fault", mode);
    return real(file, mode);
}

EXPORT void *dlsym(void *handle, const char *name)
{
    dlsym_fn real = real_dlsym();

    if (handle != RTLD_NEXT && hit(FN_DLSYM, CALLER))
        return real(handle, "symbol_of_a_fault");
    return real(handle, name);
}

/* --- UCX ---------------------------------------------------------------------
 */

#define REFUSED UCS_ERR_NO_RESOURCE
#define REFUSED_PTR ((ucs_status_ptr_t)(intptr_t)REFUSED)

EXPORT ucs_status_t ucp_config_read(const char *prefix, const char *file,
                                    ucp_config_t **config)
{
    REAL(ucp_config_read);

    return hit(FN_CONFIG_READ, CALLER) ? REFUSED : real(prefix, file, config);
}

EXPORT ucs_status_t ucp_config_modify(ucp_config_t *config, const char *name,
                                      const char *value)
{
    REAL(ucp_config_modify);

    return hit(FN_CONFIG_MODIFY, CALLER) ? REFUSED : real(config, name, value);
}

EXPORT ucs_status_t ucp_init_version(unsigned major, unsigned minor,
                                     const ucp_params_t *params,
                                     const ucp_config_t *config,
                                     ucp_context_h *context)
{
    REAL(ucp_init_version);

    return hit(FN_INIT, CALLER) ? REFUSED
                                : real(major, minor, params, config, context);
}

EXPORT ucs_status_t ucp_worker_create(ucp_context_h context,
                                      const ucp_worker_params_t *params,
                                      ucp_worker_h *worker)
{
    REAL(ucp_worker_create);

    return hit(FN_WORKER_CREATE, CALLER) ? REFUSED
                                         : real(context, params, worker);
}

EXPORT ucs_status_t ucp_worker_get_address(ucp_worker_h worker,
                                           ucp_address_t **address, size_t *n)
{
    REAL(ucp_worker_get_address);

    return hit(FN_GET_ADDRESS, CALLER) ? REFUSED : real(worker, address, n);
}

EXPORT ucs_status_t ucp_ep_create(ucp_worker_h worker,
                                  const ucp_ep_params_t *params, ucp_ep_h *ep)
{
    REAL(ucp_ep_create);

    return hit(FN_EP_CREATE, CALLER) ? REFUSED : real(worker, params, ep);
}

EXPORT ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep,
                                         const ucp_request_param_t *param)
{
    REAL(ucp_ep_close_nbx);

    return hit(FN_EP_CLOSE, CALLER) ? REFUSED_PTR : real(ep, param);
}

EXPORT ucs_status_t ucp_request_check_status(void *request)
{
    REAL(ucp_request_check_status);

    return hit(FN_CHECK_STATUS, CALLER) ? REFUSED : real(request);
}

EXPORT ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag,
                                          ucp_tag_t mask, int remove,
                                          ucp_tag_recv_info_t *info)
{
    REAL(ucp_tag_probe_nb);

    return hit(FN_PROBE, CALLER) ? NULL : real(worker, tag, mask, remove, info);
}

EXPORT ucs_status_ptr_t ucp_tag_msg_recv_nbx(ucp_worker_h worker, void *buffer,
                                             size_t count,
                                             ucp_tag_message_h message,
                                             const ucp_request_param_t *param)
{
    REAL(ucp_tag_msg_recv_nbx);

    return hit(FN_MSG_RECV, CALLER)
               ? REFUSED_PTR
               : real(worker, buffer, count, message, param);
}

/* A transfer that is to fail when it ends: the caller's callback, and a copy
 * of its parameters that names ours. Never freed: one a fault. */
struct late {
    ucp_request_param_t param;
    ucp_send_nbx_callback_t sent;
    ucp_tag_recv_nbx_callback_t received;
    void *arg;
};

static void on_sent(void *request, ucs_status_t status, void *arg)
{
    struct late *late = arg;

    (void)status;
    late->sent(request, UCS_ERR_IO_ERROR, late->arg);
}

static void on_received(void *request, ucs_status_t status,
                        const ucp_tag_recv_info_t *info, void *arg)
{
    struct late *late = arg;

    (void)status;
    late->received(request, UCS_ERR_IO_ERROR, info, late->arg);
}

static const ucp_request_param_t *delay(const ucp_request_param_t *param,
                                        int receive)
{
    struct late *late = calloc(1, sizeof(*late));

    if (!late || !(param->op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK))
        return param;
    late->param = *param;
    late->arg = param->user_data;
    late->param.user_data = late;
    if (receive) {
        late->received = param->cb.recv;
        late->param.cb.recv = on_received;
    } else {
        late->sent = param->cb.send;
        late->param.cb.send = on_sent;
    }
    return &late->param;
}

EXPORT ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer,
                                         size_t count, ucp_tag_t tag,
                                         const ucp_request_param_t *param)
{
    REAL(ucp_tag_send_nbx);

    if (hit(FN_SEND, CALLER))
        return REFUSED_PTR;
    if (hit(FN_SEND_END, CALLER))
        param = delay(param, 0);
    return real(ep, buffer, count, tag, param);
}

EXPORT ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer,
                                         size_t count, ucp_tag_t tag,
                                         ucp_tag_t mask,
                                         const ucp_request_param_t *param)
{
    REAL(ucp_tag_recv_nbx);

    if (hit(FN_RECV, CALLER))
        return REFUSED_PTR;
    if (hit(FN_RECV_END, CALLER))
        param = delay(param, 1);
    return real(worker, buffer, count, tag, mask, param);
}

EXPORT ucs_status_ptr_t ucp_worker_flush_nbx(ucp_worker_h worker,
                                             const ucp_request_param_t *param)
{
    REAL(ucp_worker_flush_nbx);

    if (hit(FN_FLUSH, CALLER))
        return REFUSED_PTR;
    if (hit(FN_FLUSH_END, CALLER))
        param = delay(param, 0);
    return real(worker, param);
}

/* --- MPI ---------------------------------------------------------------------
 */

EXPORT int PMPI_Iallreduce(const void *send, void *recv, int count,
                           MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           MPI_Request *request)
{
    REAL(PMPI_Iallreduce);

    if (hit(FN_IALLREDUCE, CALLER))
        return MPI_ERR_OTHER;
    return real(send, recv, count, type, op, comm, request);
}

EXPORT int PMPI_Ialltoallv(const void *send, const int *scounts,
                           const int *sdispls, MPI_Datatype stype, void *recv,
                           const int *rcounts, const int *rdispls,
                           MPI_Datatype rtype, MPI_Comm comm,
                           MPI_Request *request)
{
    REAL(PMPI_Ialltoallv);

    if (hit(FN_IALLTOALLV, CALLER))
        return MPI_ERR_OTHER;
    return real(send, scounts, sdispls, stype, recv, rcounts, rdispls, rtype,
                comm, request);
}

EXPORT int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    REAL(PMPI_Test);

    return hit(FN_TEST, CALLER) ? MPI_ERR_OTHER : real(request, flag, status);
}

EXPORT int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    REAL(PMPI_Comm_set_attr);

    return hit(FN_SET_ATTR, CALLER) ? MPI_ERR_OTHER : real(comm, keyval, value);
}
