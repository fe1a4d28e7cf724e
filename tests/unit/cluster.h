/* SPDX-License-Identifier: BSD-3-Clause */
/* cluster.h - all ranks of a collective in one process, and a driver that lets
 * them advance in a random order and stops a rank for good once its call has
 * returned.
 *
 * Results are compared with a scalar reference on inputs whose results are
 * exact in any order; guard bytes surround every buffer. */
#ifndef CX_CLUSTER_H
#define CX_CLUSTER_H

#include "coll/coll.h"
#include "fakegpu.h"
#include "memwire.h"
#include "unit.h"

/* Where the ranks' buffers are. */
enum placement {
    ON_HOST,
    ON_GPU,
    MIXED, /* each buffer of each rank somewhere else */
    NPLACEMENTS
};

/* Which ranks call in place (never asked for bcast, which always is). */
enum aliasing { OUT_OF_PLACE, IN_PLACE, SOME_IN_PLACE, NALIASINGS };

struct call_case {
    size_t count;
    enum cx_dtype dtype; /* BYTE: `elsize` bytes an element */
    enum cx_redop op;
    size_t elsize;
    struct cx_tiling tiling;
    enum placement placement;
    enum aliasing aliasing;
    int one_device; /* GPU buffers are on device 0 of two */
    int wild; /* doubles whose sum depends on the order; only compared between
                 ranks */
    struct memnet_params net;
    int gpu_delay;
    uint32_t signature; /* 0: any */
};

struct buffer {
    char *user;  /* as the collective sees it */
    char *bytes; /* as the test may read it */
    size_t nbytes;
    struct cx_mem mem;
    char *owned; /* host memory to free */
};

struct member {
    struct cx_plan *plan;
    struct cx_instance *inst;
    struct cx_wire *wire;
    struct cx_gpu *gpu;
    struct cx_scratch scratch;
    struct buffer src, dst;
    char *input; /* what this rank contributes */
    int inplace, started, ended;
    int failed; /* its result is not looked at */
};

struct cluster {
    const struct cx_algorithm *algorithm;
    int nranks, root;
    struct memnet *net;
    struct member *members;
    struct rng rng;
    uint32_t calls, team;
};

struct cluster *cluster_create(const struct cx_algorithm *algorithm, int nranks,
                               int root, uint64_t seed);
void cluster_destroy(struct cluster *cluster);

/* A sum of integers of eight tiles, on a network that delays messages. */
struct call_case cluster_case(enum placement placement);

/* One call from buffers to checked results. */
void cluster_run(struct cluster *cluster, const struct call_case *c);

/* The same in steps. `fill` makes buffers and inputs; `begin` starts one rank;
 * `drive` runs all until they have returned; `check` compares; `drop` frees. */
void cluster_fill(struct cluster *cluster, const struct call_case *c);
void cluster_make_run(const struct cluster *cluster, const struct call_case *c,
                      int rank, struct cx_run *run);
enum cx_status cluster_begin(struct cluster *cluster, const struct call_case *c,
                             int rank);
void cluster_drive(struct cluster *cluster, const struct call_case *c);
void cluster_check(struct cluster *cluster, const struct call_case *c);
void cluster_drop(struct cluster *cluster);

/* One quantum of a started rank. */
enum cx_status member_step(struct member *member, unsigned *nevents);

/* reference.c: inputs and expected results. */
void reference_fill(const struct cluster *cluster, const struct call_case *c,
                    int rank);
void reference_check(const struct cluster *cluster, const struct call_case *c);

#endif
