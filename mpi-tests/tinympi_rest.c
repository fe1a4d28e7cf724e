/* SPDX-License-Identifier: BSD-3-Clause */
/* tinympi_rest.c - what the front asks of an MPI and tinympi.c has not: there,
 * and always an error. */
int mt_unsupported(void);

__attribute__((visibility("default"))) int mt_unsupported(void)
{
    return 15; /* MPI_ERR_OTHER */
}

#define CX_REAL(name)                                                          \
    __attribute__((weak, alias("mt_unsupported"),                              \
                   visibility("default"))) int PMPI_##name(void);
#include "pmpi/real.def"
