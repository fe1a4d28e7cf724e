/* SPDX-License-Identifier: BSD-3-Clause */
/* copy.h - copies and fills, one or two dimensions, any kinds of memory. */
#ifndef SIM_COPY_H
#define SIM_COPY_H

#include "span.h"
#include "stream.h"

/* width bytes in each of height rows; a pitch is from row to row. */
struct sim_copy {
    uintptr_t dst, src;
    size_t dpitch, spitch;
    size_t width, height;
    enum sim_side dst_side, src_side;
    CUcontext dst_ctx, src_ctx; /* whose devices use them; NULL: the stream's */
};

/* width elements of size bytes in each of height rows. */
struct sim_fill {
    uintptr_t dst;
    size_t pitch;
    size_t width, height;
    unsigned size;
    uint32_t value;
};

/* Queues on the stream that handle means and waits as the real call would:
 * sync says that the program called the function without Async. Takes the
 * lock itself. */
CUresult sim_copy(const struct sim_copy *c, CUstream handle, bool sync);
CUresult sim_fill(const struct sim_fill *f, CUstream handle, bool sync);

static inline struct sim_copy sim_copy_1d(uintptr_t dst, uintptr_t src,
                                          size_t nbytes)
{
    return (struct sim_copy){
        .dst = dst,
        .src = src,
        .dpitch = nbytes,
        .spitch = nbytes,
        .width = nbytes,
        .height = 1,
    };
}

#endif
