/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - what src/engine uses of src/coll: algorithms as plans, and the
 * executor that runs them.
 *
 * generator -> plan -> instance. A plan depends on (algorithm, rank, nranks,
 * root) alone: it knows no counts, pointers or memory kinds. An instance binds
 * a plan to a wire, a GPU and peers, borrows scratch for the time of a call,
 * and runs calls one after another; several instances of one plan may be alive.
 */
#ifndef CX_COLL_H
#define CX_COLL_H

#include <stddef.h>
#include <stdint.h>

#include "base/gpu.h"
#include "base/status.h"
#include "base/types.h"
#include "base/wire.h"

struct cx_shape {
    int rank, nranks, root; /* root: 0 where the function has none */
};

struct cx_plan;

struct cx_algorithm {
    const char *name; /* as in COAX_ALGO */
    enum cx_func func;
    int ordered;         /* keeps rank order: good for non-commutative ops */
    const char *summary; /* one line: cost and when it wins */
    CX_MUST enum cx_status (*generate)(const struct cx_shape *shape,
                                       struct cx_plan **plan);
};

/* The registry; ends with NULL. */
extern const struct cx_algorithm *const cx_algorithms[];
const struct cx_algorithm *cx_algorithm_find(enum cx_func func,
                                             const char *name);

/* Plans are immutable; destroy after the last instance. */
void cx_plan_destroy(struct cx_plan *plan);

/* The distinct ranks that this rank's plan sends to (`*nsend` of them), and all
 * that it exchanges messages with: those first, then the ranks it only receives
 * from. Borrowed until the plan is destroyed. Who is a neighbour has this rank
 * as a neighbour. */
const int *cx_plan_send_peers(const struct cx_plan *plan, int *nsend);
const int *cx_plan_neighbours(const struct cx_plan *plan, int *n);

/* --- scratch.c: host memory for the calls that run, one pool a process. Not
 * locked: whoever drives the instances that share it drives one at a time. Zero
 * is an empty pool. ------------------------------------------------------- */

/* Idle blocks are kept while all blocks have no more bytes together than this,
 * or than were ever lent at once; beyond it those longest idle are freed. */
#define CX_SCRATCH_KEPT ((size_t)64 << 20)

struct cx_block;

struct cx_scratch {
    struct cx_block *idle;          /* owned; the latest given back first */
    struct cx_block *lost;          /* owned */
    size_t idle_nbytes, lent, most; /* bytes; lent: now, most: at most so far */
};

/* At least `nbytes` bytes, aligned to 64, of any content, lent until give or
 * lose; NULL when memory is short. Allocates only what the pool lacks. */
void *cx_scratch_take(struct cx_scratch *pool, size_t nbytes);
void cx_scratch_give(struct cx_scratch *pool, void *mem);
/* For memory that the wire may still write to: nobody gets it again. */
void cx_scratch_lose(struct cx_scratch *pool, void *mem);
/* When nothing is lent and the wire has been destroyed. */
void cx_scratch_fini(struct cx_scratch *pool);

struct cx_io {
    const struct cx_wire_ops *wire_ops;
    struct cx_wire *wire;
    const struct cx_gpu_ops *gpu_ops; /* NULL: host memory only */
    struct cx_gpu *gpu;
    struct cx_scratch *scratch;
};

/* Tiles: a pure function of agreed facts, chosen by src/tune. A call of
 * `count` elements runs as ceil(count / tile_count) equal tiles. */
struct cx_tiling {
    size_t tile_count; /* elements (of struct cx_run.elsize) a tile, >= 1 */
    int depth;         /* tiles in flight, 1..CX_MAX_DEPTH; 3 lets copies from
                          the GPU, messages and copies to it overlap */
    int window;        /* sends in flight over all tiles; 0: the default */
};
#define CX_MAX_DEPTH 8

struct cx_run {
    const void *src; /* NULL: in place (bcast: always; allgather: block `rank`
                        of dst) */
    void *dst;
    struct cx_mem src_mem, dst_mem; /* src_mem ignored when src is NULL */
    size_t count;                   /* allreduce, bcast: elements of the whole
                                       vector; allgather: of one rank's block */
    size_t elsize;
    enum cx_dtype dtype;
    enum cx_redop op;
    struct cx_tiling tiling;
    uint32_t team;      /* CX_TAG_TEAM_BITS */
    uint32_t call;      /* sequence number of the team's call */
    uint32_t signature; /* of the agreed facts; compared with the sender's */
};

/* 64-bit tag = team | source rank | tile lane | call | signature. */
#define CX_TAG_TEAM_BITS 20
#define CX_TAG_RANK_BITS 18
#define CX_TAG_LANE_BITS 4
#define CX_TAG_CALL_BITS 8
#define CX_TAG_SIG_BITS 14

/* In place of a signature: "the sender has given this call up". A call whose
 * signature has this value runs with the value below it. */
#define CX_SIG_FAILED ((UINT32_C(1) << CX_TAG_SIG_BITS) - 1)

struct cx_instance;

/* `peers[i]` is the wire peer of the i-th rank of cx_plan_neighbours, borrowed
 * until destroy. */
CX_MUST enum cx_status cx_instance_create(const struct cx_plan *plan,
                                          const struct cx_io *io,
                                          struct cx_peer *const *peers,
                                          struct cx_instance **out);
/* Begins a call: borrows scratch until the call has ended or is aborted, and
 * posts what can be posted. After an error nothing has been posted and the
 * instance can be started again. CX_ERR_PEER: another rank has given the call
 * up already. */
CX_MUST enum cx_status cx_instance_start(struct cx_instance *inst,
                                         const struct cx_run *run);
/* Advances without blocking: CX_INPROGRESS, CX_OK when the result is complete
 * and every peer written to is flushed, or an error (then call abort). The
 * caller drives wire and GPU progress between the calls. */
CX_MUST enum cx_status cx_instance_progress(struct cx_instance *inst);
/* After an error or timeout: cancels what is in flight. Explain still tells the
 * error until the next start. */
void cx_instance_abort(struct cx_instance *inst);
/* For a call that has failed here (in place of abort), or that this rank cannot
 * start at all: aborts it and tells every neighbour of the plan. The calls of
 * those that it sends to end in CX_ERR_PEER when they next need something from
 * this rank; those that only send to it hear of it by `listen`. Uses
 * `run->team` and `run->call` only; needs no memory. Drives the wire until the
 * messages have left, for a second at most. A rank that gives up because of
 * such a message must give up in turn: so the news reaches all that wait.
 * Returns whether the wire took all messages: one that does not leaves a
 * neighbour waiting. */
int cx_instance_give_up(struct cx_instance *inst, const struct cx_run *run);
/* For a running call, now and then while it waits: has a neighbour given it up
 * that this rank expects nothing from? Then the next progress says so. */
void cx_instance_listen(struct cx_instance *inst);
/* After give_up, now and then: lets go of what still comes for the call. */
void cx_instance_discard(struct cx_instance *inst, const struct cx_run *run);
/* After give_up: is there a neighbour whose messages were still to come, and
 * who has not given up too? It may be stuck half way in sending them, so this
 * rank should drive the wire until it has heard, for a while. */
int cx_instance_is_awaited(struct cx_instance *inst, const struct cx_run *run);
/* What the call waits for or what went wrong, one line for the report. */
void cx_instance_explain(const struct cx_instance *inst, char *out, size_t n);
void cx_instance_destroy(struct cx_instance *inst);

/* dst[i] = ((x0[i] op x1[i]) op x2[i]) ... for k >= 1 operands in the listed
 * order; `dst` may be any of them. NaN results are the canonical quiet NaN;
 * MIN and MAX give NaN when either operand is NaN and order -0 below +0;
 * logical results are 0 or 1; MINLOC and MAXLOC give the value of MIN and MAX
 * and the lowest index of those that equal it, zeros of both signs being equal
 * and so all NaNs; padding is 0. No FMA. (op, dtype) must be valid. */
void cx_reduce(enum cx_dtype dtype, enum cx_redop op, void *dst,
               const void *const *srcs, int k, size_t count);

#endif
