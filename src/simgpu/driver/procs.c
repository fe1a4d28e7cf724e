/* SPDX-License-Identifier: BSD-3-Clause */
/* procs.c - cuGetProcAddress: finds a function by name and version. */
#include "sim.h"

#include <string.h>

typedef void (*any_fn)(void);

static const struct proc {
    const char *name;
    int since;
    any_fn symbol;
    any_fn own; /* with the thread's own default stream */
} procs[] = {
#define SIM_PROC(name, since, symbol)                                          \
    {#name, since, (any_fn)symbol, (any_fn)symbol},
#define SIM_PROC2(name, since, symbol, own)                                    \
    {#name, since, (any_fn)symbol, (any_fn)own},
#include "procs.def"
#undef SIM_PROC
#undef SIM_PROC2
};

CUresult CUDAAPI cuGetProcAddress_v2(
    const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
    CUdriverProcAddressQueryResult *symbolStatus)
{
    CUdriverProcAddressQueryResult status =
        CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    CUresult rc = sim_enter_early(SIM_FN_cuGetProcAddress);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (symbol == NULL || pfn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    bool own = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    any_fn found = NULL;
    for (size_t i = 0; i < sizeof(procs) / sizeof(procs[0]); i++) {
        const struct proc *p = &procs[i];
        if (strcmp(p->name, symbol) != 0)
            continue;
        if (p->since <= cudaVersion)
            found = own ? p->own : p->symbol;
        else if (found == NULL)
            status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    }
    if (found != NULL)
        status = CU_GET_PROC_ADDRESS_SUCCESS;
    if (symbolStatus != NULL)
        *symbolStatus = status;
    *pfn = (void *)(uintptr_t)found;
    return found != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult CUDAAPI cuGetProcAddress(const char *symbol, void **pfn,
                                  int cudaVersion, cuuint64_t flags)
{
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, NULL);
}
