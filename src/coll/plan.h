/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - a collective as data, and the builder that generators use.
 *
 * A plan is the program of one rank for one tile of the data: small ops over
 * abstract blocks, each with up to two predecessors. It knows ranks and block
 * numbers, no bytes, pointers or memory kinds. Private to src/coll and to the
 * tests that check plans.
 *
 * Blocks. PARTITION: the tile's elements are split evenly over `nblocks`
 * blocks (the first ones are an element longer), so SRC, DST and each run of
 * `nblocks` scratch blocks are laid out alike; blocks may be empty. ARRAY: SRC
 * is one block, DST is `nblocks` blocks, all equal; a tile takes the same slice
 * of each, so a range of DST blocks is not contiguous in memory and only COPY
 * may name one.
 *
 * Order. An op may start when its predecessors are complete; SENDs to one peer,
 * and RECVs from one peer, are posted in the order of the plan. Nothing else is
 * promised. SRC and DST may be the same memory on any rank (ARRAY: SRC may be
 * block `rank` of DST): a plan must be free of races in that case too. */
#ifndef CX_PLAN_H
#define CX_PLAN_H

#include <stdint.h>

#include "coll/coll.h"

enum cx_space { CX_SRC, CX_DST, CX_SCRATCH, CX_NSPACES };
enum cx_layout { CX_LAYOUT_PARTITION, CX_LAYOUT_ARRAY };
enum cx_opcode { CX_OP_SEND, CX_OP_RECV, CX_OP_COPY, CX_OP_REDUCE };

#define CX_NO_OP (-1)
#define CX_MAX_REDUCE 8 /* inputs of one REDUCE */

struct cx_operand {
    enum cx_space space;
    uint32_t first, n; /* block numbers of the space */
    uint32_t rep;      /* PARTITION scratch: which run of nblocks; the plan's
                          `first` is then within that run */
};

struct cx_plan_op {
    enum cx_opcode code;
    int peer;             /* SEND, RECV: a rank of the team */
    uint32_t chain;       /* SEND: index of the peer among the send peers; RECV:
                             nsend + index among the receive peers */
    uint32_t pos;         /* SEND, RECV: position in the chain */
    uint32_t args;        /* index in plan->operands: output, then inputs */
    uint32_t nin;         /* inputs: 0 for RECV */
    int pred[2];          /* earlier ops or CX_NO_OP, distinct */
    uint32_t succ, nsucc; /* range of plan->succs */
};

/* A run of blocks of SRC that the plan reads, or of DST that it writes. */
struct cx_run_of_blocks {
    uint32_t first, n;
};

/* Ops of one peer and direction, in plan order. */
struct cx_chain {
    uint32_t first, n; /* range of plan->chain_ops */
};

/* One allocation; everything below points into it. */
struct cx_plan {
    struct cx_shape shape;
    enum cx_layout layout;
    uint32_t nblocks;
    uint32_t nscratch; /* blocks */
    uint32_t nops, nwire, nlocal, nroots;
    int nsend, nrecv;
    int reduces; /* has a REDUCE */
    struct cx_plan_op *ops;
    struct cx_operand *operands;
    uint32_t *succs;
    struct cx_chain *chains; /* nsend, then nrecv */
    uint32_t *chain_ops;     /* nwire */
    uint32_t *roots;         /* local ops without predecessors */
    int *send_peers, *recv_peers;
    int *neighbours; /* nneighbours: the send peers, then other receive peers */
    int nneighbours;
    uint32_t *recv_at; /* by receive peer: its index among the neighbours */
    /* [0] out of place, [1] in place, where a COPY onto itself is nothing */
    struct cx_run_of_blocks *load[2], *store[2];
    uint32_t nload[2], nstore[2];
};

static inline const struct cx_operand *cx_plan_out(const struct cx_plan *plan,
                                                   const struct cx_plan_op *op)
{
    return &plan->operands[op->args];
}

static inline const struct cx_operand *
cx_plan_in(const struct cx_plan *plan, const struct cx_plan_op *op, uint32_t i)
{
    return &plan->operands[op->args + 1 + i];
}

/* COPY of a block onto itself when SRC and DST are the same memory? */
int cx_plan_is_identity(const struct cx_plan *plan,
                        const struct cx_plan_op *op);

/* The builder. Generators call these without checking: the first failure is
 * kept and returned by finish. Each op function returns the op's number, to be
 * used as a predecessor of later ones. */
struct cx_builder {
    struct cx_shape shape;
    enum cx_layout layout;
    uint32_t nblocks, nscratch;
    struct cx_plan_op *ops; /* owned */
    uint32_t nops, cap_ops;
    struct cx_operand *operands; /* owned */
    uint32_t noperands, cap_operands;
    enum cx_status status;
};

void cx_build_init(struct cx_builder *b, const struct cx_shape *shape,
                   enum cx_layout layout, uint32_t nblocks);
struct cx_operand cx_src(uint32_t first, uint32_t n);
struct cx_operand cx_dst(uint32_t first, uint32_t n);
/* Scratch grows to the highest block named. */
struct cx_operand cx_scratch(uint32_t first, uint32_t n);

int cx_build_send(struct cx_builder *b, int peer, struct cx_operand x,
                  int pred0, int pred1);
int cx_build_recv(struct cx_builder *b, int peer, struct cx_operand x,
                  int pred0, int pred1);
int cx_build_copy(struct cx_builder *b, struct cx_operand y,
                  struct cx_operand x, int pred0, int pred1);
/* y = x0 op x1, in this order; y may be x0 or x1. */
int cx_build_reduce(struct cx_builder *b, struct cx_operand y,
                    struct cx_operand x0, struct cx_operand x1, int pred0,
                    int pred1);
/* Complete when both are; moves nothing. CX_NO_OP counts as complete. */
int cx_build_join(struct cx_builder *b, int pred0, int pred1);

/* Ends the builder in every case; writes `*plan` on success. */
CX_MUST enum cx_status cx_build_finish(struct cx_builder *b,
                                       struct cx_plan **plan);

#endif
