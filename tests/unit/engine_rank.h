/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_rank.h - the engine as one rank of several in a process: a library
 * with the engine's own code and globals, loaded once a rank from a copy of its
 * file, over a wire and a GPU that the test hands in. */
#ifndef ENGINE_RANK_H
#define ENGINE_RANK_H

#include "base/bridge.h"
#include "base/gpu.h"
#include "base/wire.h"

struct engine_rank {
    const struct cx_wire_ops *wire_ops;
    struct cx_wire *wire;
    const struct cx_gpu_ops *gpu_ops;
    struct cx_gpu *gpu;
};

/* "coax_rank_setup", before "coax_engine_open". */
typedef void (*engine_rank_fn)(const struct engine_rank *rank);

#endif
