/* SPDX-License-Identifier: BSD-3-Clause */
/* shim_ucp.c - test preload that counts the engine's UCX sends and endpoints.
 *
 * Stands in front of ucp_tag_send_nbx and looks where the caller lies: the MPI
 * library sends through UCX too. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>
#include <ucp/api/ucp.h>

#include "caller.h"
#include "counts.h"
#include "next.h"
#include "report.h"

#define EXPORT __attribute__((visibility("default")))

typedef ucs_status_ptr_t (*send_fn)(ucp_ep_h, const void *, size_t, ucp_tag_t,
                                    const ucp_request_param_t *);

static _Atomic uint64_t sends, bytes, others, endpoints;

EXPORT void mt_shim_ucp_counts(struct mt_ucp_counts *out);

static uint64_t payload(const void *buffer, size_t count,
                        const ucp_request_param_t *param)
{
    const ucp_dt_iov_t *iov = buffer;
    ucp_datatype_t type = ucp_dt_make_contig(1);
    uint64_t sum = 0;

    if (param->op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE)
        type = param->datatype;
    if ((type & UCP_DATATYPE_CLASS_MASK) == UCP_DATATYPE_CONTIG)
        return count * (uint64_t)(type >> UCP_DATATYPE_SHIFT);
    if ((type & UCP_DATATYPE_CLASS_MASK) != UCP_DATATYPE_IOV)
        return 0;
    for (size_t i = 0; i < count; i++)
        sum += iov[i].length;
    return sum;
}

EXPORT ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer,
                                         size_t count, ucp_tag_t tag,
                                         const ucp_request_param_t *param)
{
    static _Atomic(void *) next;
    void *real = atomic_load(&next);
    send_fn send;

    if (!real) {
        real = mt_next("ucp_tag_send_nbx", "libucp.so.0");
        atomic_store(&next, real);
    }
    if (mt_caller_of(__builtin_return_address(0)) == MT_CALLER_ENGINE) {
        atomic_fetch_add(&sends, 1);
        atomic_fetch_add(&bytes, payload(buffer, count, param));
    } else {
        atomic_fetch_add(&others, 1);
    }
    *(void **)&send = real;
    return send(ep, buffer, count, tag, param);
}

EXPORT ucs_status_t ucp_ep_create(ucp_worker_h worker,
                                  const ucp_ep_params_t *params, ucp_ep_h *ep)
{
    __typeof__(&ucp_ep_create) next;
    ucs_status_t status;

    *(void **)&next = mt_next("ucp_ep_create", "libucp.so.0");
    status = next(worker, params, ep);
    if (status == UCS_OK &&
        mt_caller_of(__builtin_return_address(0)) == MT_CALLER_ENGINE)
        atomic_fetch_add(&endpoints, 1);
    return status;
}

EXPORT ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h ep,
                                         const ucp_request_param_t *param)
{
    __typeof__(&ucp_ep_close_nbx) next;

    *(void **)&next = mt_next("ucp_ep_close_nbx", "libucp.so.0");
    if (mt_caller_of(__builtin_return_address(0)) == MT_CALLER_ENGINE)
        atomic_fetch_sub(&endpoints, 1);
    return next(ep, param);
}

void mt_shim_ucp_counts(struct mt_ucp_counts *out)
{
    out->sends = atomic_load(&sends);
    out->bytes = atomic_load(&bytes);
    out->others = atomic_load(&others);
    out->endpoints = atomic_load(&endpoints);
}

__attribute__((destructor)) static void at_end(void)
{
    struct mt_ucp_counts counts;

    mt_shim_ucp_counts(&counts);
    if (counts.sends)
        report("ucp", &counts.sends, 1);
}
