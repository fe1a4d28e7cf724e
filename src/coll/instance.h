/* SPDX-License-Identifier: BSD-3-Clause */
/* instance.h - the state of one running collective; shared by instance.c (its
 * life), exec.c (the executor) and stage.c (copies of GPU memory).
 *
 * Up to `depth` tiles are in flight, each in the slot (tile mod depth); a tile
 * enters when the tile that had its slot has ended, so a slot's scratch and
 * shadow memory never have two users. Ends agree on the order: a rank posts the
 * messages of tile t before those of the next tile with the same lane in the
 * tag, because depth < lanes. */
#ifndef CX_INSTANCE_H
#define CX_INSTANCE_H

#include "coll/lower.h"

/* Sends in flight over all tiles, unless the tiling says otherwise. */
#define CX_SEND_WINDOW 8

enum cx_tile_stage {
    CX_TILE_FREE,
    CX_TILE_LOAD, /* device to shadow slot */
    CX_TILE_RUN,  /* the plan's ops */
    CX_TILE_STORE /* shadow slot to device */
};

struct cx_chain_state {
    uint32_t posted, done; /* ops of the chain; done <= posted */
    uint8_t waiting;       /* SEND: in the tile's queue for the window */
    uint8_t active;        /* in inst->active */
};

struct cx_tile {
    enum cx_tile_stage stage;
    size_t index;
    struct cx_tile_map map;
    uint32_t left;       /* ops not complete */
    uint32_t sends;      /* in flight */
    unsigned char *need; /* by op: predecessors not complete */
    struct cx_req *reqs; /* by position in plan->chain_ops */
    struct cx_chain_state *chains;
    uint32_t *queue; /* ring of nsend chains whose next SEND is ready */
    uint32_t queue_head, nqueue;
    struct cx_req *copies;
    uint32_t ncopies, copies_done;
};

struct cx_active {
    struct cx_tile *tile;
    uint32_t chain;
};

struct cx_todo {
    struct cx_tile *tile;
    uint32_t op;
};

#define CX_NLANES (1u << CX_TAG_LANE_BITS)

/* What was exchanged with one neighbour in this call. */
struct cx_sent {
    size_t left; /* SENDs not complete */
    int dirty;   /* a message went out */
    int owes;    /* given up: some of its messages had not come */
    struct cx_req flush;
    struct cx_req notices[CX_NLANES]; /* of a call given up */
    int noticed;                      /* they have left, their flush began */
};

enum cx_instance_state { CX_INST_IDLE, CX_INST_RUNNING, CX_INST_FAILED };

struct cx_instance {
    const struct cx_plan *plan; /* borrowed until destroy */
    struct cx_io io;            /* tables and handles: borrowed until destroy */
    struct cx_peer **peers;     /* by neighbour; owned array of borrowed */
    enum cx_instance_state state;
    enum cx_status status; /* FAILED: why */
    char why[256];         /* FAILED: a sentence */

    struct cx_run run;
    struct cx_lowered low;
    /* Of the slots of each space, borrowed while RUNNING or FAILED: SCRATCH
     * from io.scratch, the others from gpu_ops->pinned_alloc. */
    void *slots[CX_NSPACES];

    void *block; /* owned; all arrays below */
    int depth;   /* that `block` is made for */
    struct cx_tile *tiles;
    struct cx_active *active; /* chains with something in flight */
    struct cx_todo *todo;     /* ring of local ops that may run */
    uint32_t nactive, todo_head, ntodo, todo_cap;

    struct cx_sent *sent; /* by neighbour; owned */
    uint32_t *flushes;    /* owned; send peers in the order of their flush */
    uint32_t nflushes, flushes_done;

    size_t oldest, next_tile; /* tiles [oldest, next_tile) are in flight */
    uint32_t sends, window;
};

#define CX_GAVE_UP "rank %d gave up this call; see its message"

#define CX_SIG_MASK ((UINT64_C(1) << CX_TAG_SIG_BITS) - 1)

/* What a call's messages carry: never CX_SIG_FAILED. */
static inline uint32_t cx_run_signature(const struct cx_run *run)
{
    uint32_t sig = run->signature & (uint32_t)CX_SIG_MASK;

    return sig == CX_SIG_FAILED ? sig - 1 : sig;
}

static inline uint64_t cx_run_tag(const struct cx_run *run, int source,
                                  size_t tile, uint32_t signature)
{
    uint64_t tag = run->team;

    tag = tag << CX_TAG_RANK_BITS | (uint64_t)source;
    tag = tag << CX_TAG_LANE_BITS | (tile & (CX_NLANES - 1));
    tag =
        tag << CX_TAG_CALL_BITS | (run->call & ((1u << CX_TAG_CALL_BITS) - 1));
    return tag << CX_TAG_SIG_BITS | signature;
}

/* Has a rank given up the call of `run`, or one before, and no receive took the
 * message? Its number goes to `*rank` (give_up.c). */
int cx_run_given_up(const struct cx_instance *inst, const struct cx_run *run,
                    int *rank);

/* Posts what can be posted and runs what can be run (exec.c). */
void cx_exec_begin(struct cx_instance *inst);
enum cx_status cx_exec_step(struct cx_instance *inst);

/* When nothing of ours uses the slots any more; `in_use`: the wire may. */
void cx_instance_return_slots(struct cx_instance *inst, int in_use);

/* Keeps the first failure and its sentence. */
void cx_instance_fail(struct cx_instance *inst, enum cx_status status,
                      const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Start the copies before and after a tile's ops; poll tells whether they are
 * complete (stage.c). */
void cx_stage_load(struct cx_instance *inst, struct cx_tile *tile);
void cx_stage_store(struct cx_instance *inst, struct cx_tile *tile);
int cx_stage_poll(struct cx_instance *inst, struct cx_tile *tile);
uint32_t cx_stage_max_copies(const struct cx_plan *plan);
/* Orders the copies after the program's work on its GPU buffers. */
CX_MUST enum cx_status cx_stage_fence(struct cx_instance *inst);

#endif
