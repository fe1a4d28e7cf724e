/* SPDX-License-Identifier: BSD-3-Clause */
/* static.c - linked without shared libraries: no preload reaches it. */
#include <stdio.h>

int main(void)
{
    puts("static program");
    return 0;
}
