/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.h - the inside of libcoax-engine.so: what is one per process, teams,
 * and the life of one collective. */
#ifndef CX_ENGINE_H
#define CX_ENGINE_H

#include <pthread.h>

#include "base/bridge.h"
#include "base/settings.h"
#include "coll/coll.h"
#include "tune/choice.h"

/* A plan in use: its instance and the peers it writes to. */
struct cx_planned {
    const struct cx_algorithm *algorithm; /* NULL: slot is free */
    int root;
    uint64_t last_use;
    struct cx_plan *plan;         /* owned */
    struct cx_instance *instance; /* owned */
    struct cx_peer **peers;       /* owned array of counted references, by
                                     neighbour of the plan */
    int npeers;
};

/* Least recently used out: the calls that decide it are the same on all ranks,
 * so the ranks evict alike and exchange addresses again together. */
#define CX_PLAN_SLOTS 64

struct cx_team {
    struct cx_team *next; /* list of the process's teams */
    void *comm;           /* the front's, for the services */
    int rank, size;
    double timeout_s;
    uint32_t id;       /* agreed; CX_TAG_TEAM_BITS */
    size_t blob_bytes; /* agreed: the longest address of the team */
    uint64_t ncalls;
    enum cx_status poison;      /* CX_OK, or the failure that ended the team */
    struct cx_chooser *chooser; /* shared: the process's */
    /* PMPI gave a wrong answer for this pair on some rank. */
    unsigned char mpi_wrong[CX_NREDOPS][CX_NDTYPES];
    struct cx_planned plans[CX_PLAN_SLOTS];
};

struct cx_process {
    const struct cx_mpi_services *svc;
    struct cx_settings settings;
    struct cx_io io;
    struct cx_scratch scratch; /* io.scratch */
    struct cx_chooser *chooser;
    struct cx_team *teams;
    int64_t next_team;
    int threaded;
    pthread_mutex_t lock; /* taken only when threaded */
};

extern struct cx_process cx_process;

/* One progress quantum is one hold of the lock; never held across a wait. */
static inline void cx_lock(void)
{
    if (cx_process.threaded)
        pthread_mutex_lock(&cx_process.lock);
}

static inline void cx_unlock(void)
{
    if (cx_process.threaded)
        pthread_mutex_unlock(&cx_process.lock);
}

/* --- wait.c -----------------------------------------------------------------
 */

/* State of a wait loop: spin, poke MPI, yield. */
struct cx_backoff {
    unsigned idle, turns;
    double start_us;
    int reported;
};

void cx_backoff_init(struct cx_backoff *b);
/* One turn outside the lock; `busy`: the last quantum did something. */
void cx_backoff_turn(struct cx_backoff *b, int busy);
/* Has the wait passed `limit_s`, for the first time? */
int cx_backoff_late(struct cx_backoff *b, double limit_s);

/* Waits for an MPI request of the front. Called without the lock. */
CX_MUST enum cx_status cx_mpi_wait(struct cx_team *team, struct cx_mpi_req *req,
                                   const char *what);
CX_MUST enum cx_status cx_team_allreduce(struct cx_team *team, int64_t *values,
                                         int n, enum cx_agree_op op,
                                         const char *what);

/* --- selftest.c
 * --------------------------------------------------------------- */

/* wrong[op][dtype] = 1 where PMPI_Reduce_local disagrees with cx_reduce. */
void cx_selftest(unsigned char wrong[CX_NREDOPS][CX_NDTYPES]);

/* --- team.c
 * --------------------------------------------------------------------- */

CX_MUST enum cx_status cx_team_create(const struct cx_team_params *params,
                                      struct cx_team **out, char *why,
                                      size_t n);
CX_MUST enum cx_status cx_settings_check(char *why, size_t n);
void cx_team_destroy(struct cx_team *team);

/* --- planned.c
 * ------------------------------------------------------------------ */

/* The team's plan for (algorithm, root), made and connected when new; then
 * collective. Called without the lock. */
CX_MUST enum cx_status cx_planned_get(struct cx_team *team,
                                      const struct cx_algorithm *algorithm,
                                      int root, struct cx_planned **out);
void cx_planned_release(struct cx_planned *planned);

/* --- call.c
 * ----------------------------------------------------------------------- */

CX_MUST enum cx_status cx_call_route(struct cx_team *team,
                                     const struct cx_call *call,
                                     enum cx_path *path, const char **why);
CX_MUST enum cx_status cx_call_run(struct cx_team *team,
                                   const struct cx_call *call,
                                   struct cx_result *result);

/* --- memory.c
 * --------------------------------------------------------------------- */

CX_MUST enum cx_status cx_memory_query(const void *addr, size_t nbytes,
                                       struct cx_mem *out);
CX_MUST enum cx_status cx_memory_piece(const void *addr, size_t nbytes,
                                       struct cx_mem *out, size_t *n);
/* Under COAX_SYNC=device, waits for the program's work. Without the lock. */
CX_MUST enum cx_status cx_memory_settle(const struct cx_mem *mem);
CX_MUST enum cx_status cx_memory_copy2d(const struct cx_mem *mem, int to_host,
                                        void *dst, size_t dpitch,
                                        const void *src, size_t spitch,
                                        size_t width, size_t rows);

#endif
