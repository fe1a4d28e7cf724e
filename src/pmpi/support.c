/* SPDX-License-Identifier: BSD-3-Clause */
/* support.c - what programs hear that ask whether MPI takes GPU memory.
 *
 * COAX_CUDA_SUPPORT answers in MPI's place; Coax's own question goes to MPI
 * (cx_mpi_takes_device). An MPI without these functions answers no. */
#include "pmpi/wrap.h"

/* Programs may ask before MPI_Init, when no settings have been read. */
static long chosen(void)
{
    struct cx_settings settings;
    long choice;

    if (cx_asking_mpi || cx_resolve() == CX_FRONT_INERT)
        return CX_SUPPORT_AUTO;
    if (cx_front_begin())
        return cx_front.settings.cuda_support;
    cx_settings_load(&settings);
    choice = settings.cuda_support;
    cx_settings_fini(&settings);
    return choice;
}

CX_EXPORT int query_cuda(void) __asm__("MPIX_Query_cuda_support");
CX_EXPORT int pquery_cuda(void) __asm__("PMPIX_Query_cuda_support")
    __attribute__((alias("MPIX_Query_cuda_support")));
CX_EXPORT int query_gpu(int type, int *yes) __asm__("MPIX_GPU_query_support");
CX_EXPORT int pquery_gpu(int type, int *yes) __asm__("PMPIX_GPU_query_support")
    __attribute__((alias("MPIX_GPU_query_support")));

int query_cuda(void)
{
    long choice = chosen();

    if (choice != CX_SUPPORT_AUTO)
        return choice == CX_SUPPORT_YES;
    return cx_mpi.gpu_aware != NULL ? cx_mpi.gpu_aware() : 0;
}

int query_gpu(int type, int *yes)
{
    long choice = chosen();

    if (choice != CX_SUPPORT_AUTO && type == CX_GPU_CUDA && yes != NULL) {
        *yes = choice == CX_SUPPORT_YES;
        return MPI_SUCCESS;
    }
    if (cx_mpi.gpu_query != NULL)
        return cx_mpi.gpu_query(type, yes);
    if (yes == NULL)
        return MPI_ERR_ARG;
    *yes = 0;
    return MPI_SUCCESS;
}
