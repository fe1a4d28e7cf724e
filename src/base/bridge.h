/* SPDX-License-Identifier: BSD-3-Clause */
/* bridge.h - where the front (src/pmpi) and the engine meet.
 *
 * The front hands the engine a table of MPI services and gets a table of
 * engine calls. Both begin with their size and version, so that one engine
 * serves every front (one per MPI ABI) and a mixed installation is refused and
 * not misread. The engine never sees an MPI handle: a communicator is an opaque
 * `comm` that it hands back to the services. */
#ifndef CX_BRIDGE_H
#define CX_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/gpu.h"
#include "base/status.h"
#include "base/types.h"

#define CX_BRIDGE_VERSION 2
#define CX_ENGINE_LIBRARY "libcoax-engine.so"
#define CX_ENGINE_SYMBOL "coax_engine_open"

/* Reductions of cx_mpi_services.iallreduce. Signed 64-bit only: MPICH 4.0.2 is
 * wrong for unsigned MIN and MAX. */
enum cx_agree_op { CX_AGREE_MIN, CX_AGREE_MAX, CX_AGREE_SUM };

/* One pending MPI request of the front; storage is the engine's. */
struct cx_mpi_req {
    uintptr_t handle; /* the front's */
};

/* Sparse exchange of equal-sized blobs along the edges of a plan. A rank sends
 * `mine` to each of `to[0..nto-1]` and receives from each of
 * `from[0..nfrom-1]` into `theirs + i * nbytes`. Collective over `comm`; a
 * rank may have no edge. All pointers stay valid until the request ends. */
struct cx_exchange {
    const void *mine;
    size_t nbytes;
    const int *to;
    int nto;
    const int *from;
    int nfrom;
    void *theirs;
    int *counts; /* 4 zeroed ints a rank, for the service: a rank that had no
                    memory for them in the exchange would leave the others
                    alone in it */
};

struct cx_mpi_services {
    uint32_t size, version;
    int world_rank; /* for messages */

    /* Collective over `comm`, in place on values[0..n-1]. */
    CX_MUST enum cx_status (*iallreduce)(void *comm, int64_t *values, int n,
                                         enum cx_agree_op op,
                                         struct cx_mpi_req *req);
    CX_MUST enum cx_status (*iexchange)(void *comm,
                                        const struct cx_exchange *ex,
                                        struct cx_mpi_req *req);
    /* CX_OK when done, CX_INPROGRESS, or an error. Drives MPI progress. */
    CX_MUST enum cx_status (*test)(struct cx_mpi_req *req);
    /* Drive MPI while the engine waits (design rule 6). */
    void (*poke)(void);
    /* Is the program at MPI_THREAD_MULTIPLE? Asked once. */
    int (*thread_multiple)(void);
    /* inout[i] = in[i] op inout[i] by the MPI library on host memory, of
     * elements as the engine has them; for the self-test. CX_DECLINED when MPI
     * has no such type or op, or need not have it. */
    CX_MUST enum cx_status (*reduce_local)(const void *in, void *inout,
                                           size_t count, enum cx_dtype dtype,
                                           enum cx_redop op);
};

/* One engine collective; all buffers contiguous, of any memory kind. */
struct cx_call {
    enum cx_func func;
    const void *src; /* NULL: in place (allreduce: data in dst; allgather: own
                        block already in dst; bcast: always NULL) */
    void *dst;
    size_t count; /* allreduce: elements; bcast: bytes in all; allgather: bytes
                     of one rank's block */
    enum cx_dtype dtype; /* CX_DT_BYTE unless a reduction */
    enum cx_redop op;
    int root;
    /* What mem_query says of src and dst; never CX_MEM_MIXED. */
    struct cx_mem src_mem, dst_mem;
    /* Not CX_OK: this rank cannot take part (its buffer could not be packed).
     * It joins all the same, to tell the others, and gets this status back. */
    enum cx_status failed;
};

/* What happened, for COAX_STATS. */
struct cx_result {
    const char *algorithm; /* static storage */
    uint64_t device_bytes; /* of this rank's buffers, as passed by the user */
    int untold; /* the call failed, and another rank could not be told */
};

struct cx_team;

struct cx_team_params {
    void *comm; /* passed back to the services; borrowed until team_destroy */
    int rank, size;
    double timeout_s;
};

/* Where a call of these facts goes, the same on every rank of the team. */
enum cx_path { CX_PATH_ENGINE, CX_PATH_MPI };

struct cx_engine_api {
    uint32_t size, version;
    const char *build_id;
    char why[256]; /* where open fails: a sentence, or empty */

    /* Are the engine's settings (COAX_ALGO) valid? CX_ERR_CONFIG: `why` gets
     * one sentence of at most `n` bytes. */
    CX_MUST enum cx_status (*settings_check)(char *why, size_t n);

    /* Collective over the team's communicator. CX_DECLINED: agreed by all
     * ranks not to use the engine here; the reason has been logged once.
     * CX_ERR_CONFIG, on all ranks: a forced setting cannot work; `why` says
     * so and the caller reports it. */
    CX_MUST enum cx_status (*team_create)(const struct cx_team_params *params,
                                          struct cx_team **team, char *why,
                                          size_t n);
    void (*team_destroy)(struct cx_team *team); /* local */

    /* Pure function of its arguments and of agreed settings (design rule 3);
     * `call->src` and `call->dst` are not looked at. `*why` (static storage)
     * says why MPI is chosen. CX_ERR_CONFIG: a forced algorithm cannot run
     * this; logged. */
    CX_MUST enum cx_status (*route)(struct cx_team *team,
                                    const struct cx_call *call,
                                    enum cx_path *path, const char **why);

    /* Blocking; drives MPI while it waits. A failure poisons the team.
     * CX_DECLINED, agreed by all ranks: nothing was sent, stage instead. */
    CX_MUST enum cx_status (*collective)(struct cx_team *team,
                                         const struct cx_call *call,
                                         struct cx_result *result);

    /* Memory services for the front's staging; local, valid without a team.
     * Copies are complete on return. */
    CX_MUST enum cx_status (*mem_query)(const void *addr, size_t nbytes,
                                        struct cx_mem *out);
    CX_MUST enum cx_status (*mem_piece)(const void *addr, size_t nbytes,
                                        struct cx_mem *out, size_t *n);
    CX_MUST enum cx_status (*mem_copy2d)(const struct cx_mem *mem, int to_host,
                                         void *dst, size_t dpitch,
                                         const void *src, size_t spitch,
                                         size_t width, size_t rows);

    /* cx_log_errors of the engine: has a failure been reported? */
    unsigned (*errors)(void);

    /* A readable description of wire and GPUs, for `coax info` and the info
     * line: writes at most `n` bytes with the NUL. Not CX_OK when no wire can
     * be started; logged. */
    enum cx_status (*describe)(char *out, size_t n);

    /* Stop using MPI; called while MPI is still up. Then release everything;
     * may be called after MPI_Finalize, or never. */
    void (*quiesce)(void);
    void (*close)(void);
};

/* The engine's only export besides coax_*: fills `*api`. `svc` must stay valid
 * until close; NULL gives a table with describe and mem_* only. */
typedef enum cx_status (*cx_engine_open_fn)(const struct cx_mpi_services *svc,
                                            struct cx_engine_api *api);

#endif
