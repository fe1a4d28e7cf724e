/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - monotonic time. */
#ifndef CX_CLOCK_H
#define CX_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double cx_now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec * 1e-3;
}

#endif
