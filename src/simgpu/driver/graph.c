/* SPDX-License-Identifier: BSD-3-Clause */
/* graph.c - graphs, executable graphs, and their launch.
 *
 * A launch is one operation of its stream, which runs copies of the nodes one
 * after the other, in the order of their capture. A GPU may run branches at
 * the same time; no result may depend on that. Addresses are looked up at the
 * launch: memory that was freed since the capture is an illegal address. */
#include "capture.h"
#include "entry.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct CUgraphExec_st {
    CUgraphExec next;
    struct sim_op **ops; /* owned, each of them too */
    size_t n;
    CUstream last; /* shared, counted; NULL: never launched */
    uint64_t last_seq;
};

struct launch_op {
    struct sim_op op; /* first */
    struct sim_op **ops;
    size_t n;
};

static CUgraph graphs;
static CUgraphExec execs;

bool sim_nodes_join(struct sim_nodes *to, const struct sim_nodes *from)
{
    if (from->n == 0)
        return true;
    CUgraphNode *v = realloc(to->v, (to->n + from->n) * sizeof(v[0]));
    if (v == NULL)
        return false;
    to->v = v;
    for (size_t i = 0; i < from->n; i++) {
        size_t k = 0;
        while (k < to->n && v[k] != from->v[i])
            k++;
        if (k == to->n)
            v[to->n++] = from->v[i];
    }
    return true;
}

void sim_nodes_clear(struct sim_nodes *set)
{
    free(set->v);
    set->v = NULL;
    set->n = 0;
}

CUgraph sim_graph_create(void)
{
    CUgraph g = calloc(1, sizeof(*g));
    if (g == NULL)
        return NULL;
    g->next = graphs;
    graphs = g;
    return g;
}

CUgraph sim_graph_check(CUgraph graph)
{
    for (CUgraph g = graphs; g != NULL; g = g->next)
        if (g == graph)
            return g;
    return NULL;
}

void sim_graph_destroy(CUgraph graph)
{
    CUgraph *at = &graphs;
    while (*at != graph)
        at = &(*at)->next;
    *at = graph->next;
    for (size_t i = 0; i < graph->nodes.n; i++) {
        free(graph->nodes.v[i]->op);
        sim_nodes_clear(&graph->nodes.v[i]->deps);
        free(graph->nodes.v[i]);
    }
    sim_nodes_clear(&graph->nodes);
    free(graph);
}

static struct sim_op *op_copy(const struct sim_op *op)
{
    struct sim_op *copy = malloc(op->size);
    if (copy != NULL)
        memcpy(copy, op, op->size);
    return copy;
}

CUgraphNode sim_graph_add(CUgraph graph, const struct sim_op *op,
                          const struct sim_nodes *deps)
{
    CUgraphNode node = calloc(1, sizeof(*node));
    if (node == NULL)
        return NULL;
    struct sim_nodes one = {.v = &node, .n = 1};
    node->op = op_copy(op);
    if (node->op != NULL && sim_nodes_join(&node->deps, deps) &&
        sim_nodes_join(&graph->nodes, &one))
        return node;
    sim_nodes_clear(&node->deps);
    free(node->op);
    free(node);
    return NULL;
}

static void ops_free(struct sim_op **ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(ops[i]);
    free(ops);
}

/* NULL when out of memory. */
static struct sim_op **ops_copy(struct sim_op *const *from, size_t n)
{
    struct sim_op **ops = calloc(n + 1, sizeof(ops[0]));
    for (size_t i = 0; ops != NULL && i < n; i++) {
        ops[i] = op_copy(from[i]);
        if (ops[i] == NULL) {
            ops_free(ops, i);
            return NULL;
        }
    }
    return ops;
}

static CUresult exec_create(CUgraph graph, CUgraphExec *out)
{
    CUgraphExec exec = calloc(1, sizeof(*exec));
    if (exec == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->ops = calloc(graph->nodes.n + 1, sizeof(exec->ops[0]));
    for (size_t i = 0; exec->ops != NULL && i < graph->nodes.n; i++) {
        exec->ops[i] = op_copy(graph->nodes.v[i]->op);
        exec->n += exec->ops[i] != NULL;
    }
    if (exec->ops == NULL || exec->n != graph->nodes.n) {
        ops_free(exec->ops, exec->ops != NULL ? graph->nodes.n : 0);
        free(exec);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->next = execs;
    execs = exec;
    *out = exec;
    return CUDA_SUCCESS;
}

static CUgraphExec exec_check(CUgraphExec exec)
{
    for (CUgraphExec e = execs; e != NULL; e = e->next)
        if (e == exec)
            return e;
    return NULL;
}

/* Launches that are queued have copies of their own. */
static void exec_destroy(CUgraphExec exec)
{
    CUgraphExec *at = &execs;
    while (*at != exec)
        at = &(*at)->next;
    *at = exec->next;
    ops_free(exec->ops, exec->n);
    if (exec->last != NULL)
        sim_stream_put(exec->last);
    free(exec);
}

static void launch_run(struct sim_op *op)
{
    struct launch_op *l = (struct launch_op *)op;
    for (size_t i = 0; i < l->n && op->fault == CUDA_SUCCESS; i++) {
        if (l->ops[i]->fault == CUDA_SUCCESS)
            l->ops[i]->run(l->ops[i]);
        op->fault = l->ops[i]->fault;
    }
}

static void launch_done(struct sim_op *op)
{
    struct launch_op *l = (struct launch_op *)op;
    ops_free(l->ops, l->n);
    free(l);
}

/* Into a stream that captures: the nodes become nodes there. */
static CUresult capture_exec(CUgraphExec exec, CUstream s)
{
    CUresult rc = sim_capture_enqueue(s);
    for (size_t i = 0; i < exec->n && rc == CUDA_SUCCESS; i++) {
        struct sim_op *op = op_copy(exec->ops[i]);
        if (op == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        rc = sim_capture_add(s, op);
        if (rc != CUDA_SUCCESS)
            free(op);
    }
    return rc;
}

static CUresult launch(CUgraphExec exec, CUstream s)
{
    if (s->capture != NULL)
        return capture_exec(exec, s);
    struct launch_op *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    l->op.run = launch_run;
    l->op.done = launch_done;
    l->op.delayed = true;
    l->op.work = SIM_DELAY_GRAPH;
    l->n = exec->n;
    l->ops = ops_copy(exec->ops, exec->n);
    if (l->ops == NULL) {
        free(l);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < l->n; i++)
        if (l->ops[i]->bind != NULL)
            l->ops[i]->fault = l->ops[i]->bind(l->ops[i]);
    /* A graph does not run beside itself. */
    struct sim_stamp before = {.stream = exec->last, .seq = exec->last_seq};
    uint64_t seq;
    CUresult rc =
        sim_stream_submit(s, &l->op, exec->last != NULL ? &before : NULL, &seq);
    if (rc != CUDA_SUCCESS) {
        launch_done(&l->op);
        return rc;
    }
    sim_stream_get(s);
    if (exec->last != NULL)
        sim_stream_put(exec->last);
    exec->last = s;
    exec->last_seq = seq;
    sim_count(&sim_counters->graph_launches, 1);
    return CUDA_SUCCESS;
}

static CUresult instantiate(CUgraphExec *out, CUgraph graph,
                            unsigned long long flags)
{
    const unsigned long long known =
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    CUresult rc = sim_enter(SIM_FN_cuGraphInstantiate);
    if (rc != CUDA_SUCCESS)
        return rc;
    if (out == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((flags & ~known) != 0)
        return CUDA_ERROR_NOT_SUPPORTED;
    pthread_mutex_lock(&sim_lock);
    if (sim_graph_check(graph) == NULL || graph->capturing)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return sim_end(exec_create(graph, out));
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec,
                                             CUgraph hGraph,
                                             unsigned long long flags)
{
    return instantiate(phGraphExec, hGraph, flags);
}

CUresult CUDAAPI cuGraphInstantiate_v2(CUgraphExec *phGraphExec, CUgraph hGraph,
                                       CUgraphNode *phErrorNode,
                                       char *logBuffer, size_t bufferSize)
{
    if (phErrorNode != NULL)
        *phErrorNode = NULL;
    if (logBuffer != NULL && bufferSize > 0)
        logBuffer[0] = '\0';
    return instantiate(phGraphExec, hGraph, 0);
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec *phGraphExec, CUgraph hGraph,
                                    CUgraphNode *phErrorNode, char *logBuffer,
                                    size_t bufferSize)
{
    return cuGraphInstantiate_v2(phGraphExec, hGraph, phErrorNode, logBuffer,
                                 bufferSize);
}

/* The stream that handle means, for a call that is about exec; on success the
 * lock is held. */
static CUresult begin_exec(enum sim_fn fn, CUgraphExec exec, CUstream handle,
                           CUstream *s)
{
    CUresult rc = sim_begin_stream(fn, handle, s);
    if (rc == CUDA_SUCCESS && exec_check(exec) == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    return rc;
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream)
{
    CUstream s;
    CUresult rc = begin_exec(SIM_FN_cuGraphLaunch, hGraphExec, hStream, &s);
    return rc != CUDA_SUCCESS ? rc : sim_end(launch(hGraphExec, s));
}

CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
    return cuGraphLaunch(hGraphExec,
                         hStream != NULL ? hStream : CU_STREAM_PER_THREAD);
}

/* There is nothing to bring to the device ahead of the launch. */
CUresult CUDAAPI cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream)
{
    CUstream s;
    CUresult rc = begin_exec(SIM_FN_cuGraphUpload, hGraphExec, hStream, &s);
    return rc != CUDA_SUCCESS ? rc : sim_end(sim_capture_refuse(s));
}

CUresult CUDAAPI cuGraphUpload_ptsz(CUgraphExec hGraphExec, CUstream hStream)
{
    return cuGraphUpload(hGraphExec,
                         hStream != NULL ? hStream : CU_STREAM_PER_THREAD);
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec hGraphExec)
{
    CUresult rc = sim_enter(SIM_FN_cuGraphExecDestroy);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    if (exec_check(hGraphExec) == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    exec_destroy(hGraphExec);
    return sim_end(CUDA_SUCCESS);
}

CUresult CUDAAPI cuGraphDestroy(CUgraph hGraph)
{
    CUresult rc = sim_enter(SIM_FN_cuGraphDestroy);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    if (sim_graph_check(hGraph) == NULL || hGraph->capturing)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    sim_graph_destroy(hGraph);
    return sim_end(CUDA_SUCCESS);
}

/* Gives at most *numNodes of them, and their number when nodes is NULL. */
CUresult CUDAAPI cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes,
                                 size_t *numNodes)
{
    CUresult rc = sim_enter(SIM_FN_cuGraphGetNodes);
    if (rc != CUDA_SUCCESS)
        return rc;
    pthread_mutex_lock(&sim_lock);
    if (sim_graph_check(hGraph) == NULL || numNodes == NULL)
        return sim_end(CUDA_ERROR_INVALID_VALUE);
    const struct sim_nodes *all = &hGraph->nodes;
    for (size_t i = 0; nodes != NULL && i < *numNodes; i++)
        nodes[i] = i < all->n ? all->v[i] : NULL;
    if (nodes == NULL || *numNodes > all->n)
        *numNodes = all->n;
    return sim_end(CUDA_SUCCESS);
}
