/* SPDX-License-Identifier: BSD-3-Clause */
/* capture.h - stream capture and the graphs that it makes.
 *
 * A stream that captures runs nothing: what is queued on it becomes a node of
 * a graph. The origin is the stream where the capture began; others join by
 * waiting for an event that was recorded inside. What cannot be captured, or
 * would connect captured work with other work, is refused and invalidates the
 * capture, which then has to be ended all the same. All functions want the
 * lock, except for the gate. */
#ifndef SIM_CAPTURE_H
#define SIM_CAPTURE_H

#include "stream.h"

struct sim_capture {
    struct sim_capture *next;
    unsigned long long id;
    CUgraph graph;   /* owned until the capture ends */
    CUstream origin; /* borrowed: a stream that goes ends its capture */
    CUstreamCaptureMode mode;
    unsigned long thread; /* that began it */
    bool invalid;
};

struct CUgraphNode_st {
    struct sim_op *op;     /* owned, copied for each launch */
    struct sim_nodes deps; /* earlier nodes of the graph */
    bool joined;           /* the end of the capture comes after it */
};

/* The nodes in the order of their capture: no node comes before one that it
 * depends on, so running them in this order is always right. */
struct CUgraph_st {
    CUgraph next;
    struct sim_nodes nodes; /* owned, each of them too */
    bool capturing;
};

CUresult sim_capture_begin(CUstream s, CUstreamCaptureMode mode);
CUresult sim_capture_end(CUstream s, CUgraph *graph);
unsigned long long sim_capture_id(const struct sim_capture *c);

/* Each says whether the calling thread may do this now, and if not gives the
 * error and invalidates the captures that are in the way. */

/* A call that a program may not make beside a capture, by the modes of the
 * thread and of the capture; the gate asks it for the functions in unsafe.def,
 * takes the lock itself and is cheap while nothing captures. */
CUresult sim_capture_unsafe(void);
CUresult sim_capture_gate(enum sim_fn fn);
/* Streams that capture now; read without the lock, 0 is the common case: then
 * the gate need not be asked. */
extern int sim_ncaptures;
/* Queueing work on s. */
CUresult sim_capture_enqueue(CUstream s);
/* Asking s whether it is done, or waiting for it. */
CUresult sim_capture_ask_stream(CUstream s);
CUresult sim_capture_ask_event(CUevent e);
CUresult sim_capture_ask_context(CUcontext ctx);
/* Asking whether s captures: breaks nothing. */
CUresult sim_capture_peek(CUstream s);
/* Anything else that a stream that captures cannot do. */
CUresult sim_capture_refuse(CUstream s);

/* Makes op a node of the graph that s captures; takes it on success. */
CUresult sim_capture_add(CUstream s, struct sim_op *op);
/* s waits for e, where one of them is part of a capture. */
CUresult sim_capture_wait(CUstream s, CUevent e);
/* s goes away: it leaves its capture, which ends if it began there. */
void sim_capture_leave(CUstream s);

/* Adds what is in from; false when out of memory. */
bool sim_nodes_join(struct sim_nodes *to, const struct sim_nodes *from);
void sim_nodes_clear(struct sim_nodes *set);

/* graph.c */
CUgraph sim_graph_create(void);
/* NULL unless it is a graph that is alive. */
CUgraph sim_graph_check(CUgraph graph);
void sim_graph_destroy(CUgraph graph);
/* A new node with a copy of op, after those in deps; NULL: out of memory. */
CUgraphNode sim_graph_add(CUgraph graph, const struct sim_op *op,
                          const struct sim_nodes *deps);

#endif
