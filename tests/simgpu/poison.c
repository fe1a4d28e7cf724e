/* SPDX-License-Identifier: BSD-3-Clause */
/* poison.c - memory that is given out again does not hold what its former
 * owner wrote, nor zeros. */
#include "t.h"

int main(void)
{
    unsigned char host[4096];
    CUdeviceptr d, e;
    t_context(0);
    OK(cuMemAlloc(&d, sizeof(host)));
    OK(cuMemcpyDtoH(host, d, sizeof(host)));
    CHECK(host[0] != 0 && t_all(host, host[0], sizeof(host)));
    OK(cuMemsetD8(d, 0x11, sizeof(host)));
    OK(cuMemFree(d));
    OK(cuMemAlloc(&e, sizeof(host)));
    CHECK(d == e);
    OK(cuMemcpyDtoH(host, e, sizeof(host)));
    CHECK(host[0] != 0x11 && host[0] != 0 &&
          t_all(host, host[0], sizeof(host)));
    return 0;
}
