/* SPDX-License-Identifier: BSD-3-Clause */
/* init.c - prints what cuInit and cuDeviceGetCount say; for settings.sh. */
#include "t.h"

int main(void)
{
    int n = 0;
    CUresult rc = cuInit(0);
    if (rc == CUDA_SUCCESS)
        OK(cuDeviceGetCount(&n));
    printf("%d %d\n", (int)rc, n);
    return 0;
}
