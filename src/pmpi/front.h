/* SPDX-License-Identifier: BSD-3-Clause */
/* front.h - the inside of libcoax.so: catching MPI calls and sorting them.
 *
 * A wrapped call takes one of three ways: to MPI untouched (passed), to MPI
 * with device buffers mirrored in host memory (staged), or to the engine. The
 * choice depends on facts equal on all ranks (design rule 3) once the
 * communicator's state is agreed. */
#ifndef CX_FRONT_H
#define CX_FRONT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>

#include "base/bridge.h"
#include "base/settings.h"
#include "base/status.h"
#include "base/types.h"

/* Identifies a build: front and engine must come together. */
#ifndef COAX_BUILD_ID
#define COAX_BUILD_ID COAX_VERSION
#endif

/* One argument in its register, whatever its type: under an MPI with other
 * handles a call must leave as it came. */
typedef uintptr_t cx_reg;
typedef void (*cx_fn)(void);

/* --- resolve.c: the MPI library behind us -------------------------------- */

struct cx_real {
#define CX_REAL(name) __typeof__(&PMPI_##name) name;
#include "pmpi/real.def"
#undef CX_REAL
    /* Large-count forms; NULL where the MPI has none. */
    __typeof__(&PMPI_Pack_c) Pack_c;
    __typeof__(&PMPI_Unpack_c) Unpack_c;
    __typeof__(&PMPI_Type_get_envelope_c) Type_get_envelope_c;
    __typeof__(&PMPI_Type_get_contents_c) Type_get_contents_c;
    __typeof__(&PMPI_File_call_errhandler) File_call_errhandler; /* or NULL */
    __typeof__(&PMPI_Allreduce) Allreduce;
    __typeof__(&PMPI_Bcast) Bcast;
    __typeof__(&PMPI_Allgather) Allgather;
    __typeof__(&PMPI_Allreduce_c) Allreduce_c;
    __typeof__(&PMPI_Bcast_c) Bcast_c;
    __typeof__(&PMPI_Allgather_c) Allgather_c;
    /* Sessions; NULL where the MPI has none. */
    __typeof__(&PMPI_Session_init) Session_init;
    __typeof__(&PMPI_Session_finalize) Session_finalize;
    __typeof__(&PMPI_Group_from_session_pset) Group_from_session_pset;
    __typeof__(&PMPI_Comm_create_from_group) Comm_create_from_group;
    __typeof__(&PMPI_Group_free) Group_free;
    int (*gpu_aware)(void);               /* MPIX_Query_cuda_support, or NULL */
    int (*gpu_query)(int type, int *yes); /* MPIX_GPU_query_support, or NULL */
};

extern struct cx_real cx_mpi;

enum cx_front_mode {
    CX_FRONT_NEW,   /* nothing resolved yet */
    CX_FRONT_READY, /* an MPI of our ABI is behind us */
    CX_FRONT_INERT  /* another ABI, forked child, set-uid: pass everything */
};

extern _Atomic int cx_front_mode;

/* Resolves once; returns the mode. Logs why it is inert. */
enum cx_front_mode cx_resolve(void);
/* The MPI library's function `name` ("PMPI_Bcast"); NULL when there is none. */
cx_fn cx_resolve_symbol(const char *name);

/* This process's rank by the environment, before MPI is up; -1: unknown. */
int cx_launcher_rank(void);

/* What libcoax.so takes, by the name that users call. */
enum cx_wrapped {
#define CX_WRAP(name) CX_WRAP_##name,
#include "pmpi/wrap.def"
#undef CX_WRAP
    CX_NWRAPPED
};
/* The library's own function, to tail-call with the registers untouched. One
 * that reports an error where the library has none of the name. */
cx_fn cx_raw(enum cx_wrapped which);
/* Has the library a function of the name? */
int cx_raw_exists(enum cx_wrapped which);
/* The same, or NULL while it has not been looked up. */
extern _Atomic cx_fn cx_raw_known[CX_NWRAPPED];

/* --- front.c: process-wide life ------------------------------------------ */

struct cx_front {
    struct cx_settings settings;
    /* Of MPI_COMM_WORLD; in a program of sessions only, as the launcher says,
     * or -1 and 0. */
    int world_rank;
    int world_size;
    int node_has_gpu;
    int has_peers; /* a communicator of more than one rank has been seen */
    int down;      /* MPI is being finalized: pass everything */
};

extern struct cx_front cx_front;

/* Settings, log, rank; idempotent, cheap after the first time. Returns 0 when
 * the front must pass everything (inert, not initialised, finalized). */
int cx_front_begin(void);
/* Has it ever been, in this process or in one that this was forked from? */
int cx_front_is_up(void);
/* After MPI_Init: begins, also where a session has begun before. */
void cx_front_world_begin(void);
/* Between MPI_Init and MPI_Finalize? */
int cx_front_world_up(void);
/* The last use of MPI: statistics, and the engine lets go of MPI. */
void cx_front_teardown(void);
void cx_front_after_finalize(void);
/* Has this process loaded libcuda? Cheap when nothing was loaded since. */
int cx_front_libcuda(void);

/* --- session.c: programs without MPI_Init --------------------------------- */

/* Sessions of the program that are open. */
int cx_session_count(void);
void cx_session_opened(void);
/* Before MPI_Session_finalize: 1 when MPI goes down with it. */
int cx_session_closing(void);
void cx_session_closed(int last, int ok);
/* A communicator of this process alone, on a session of Coax's own. */
int cx_session_self(MPI_Comm *out);
/* Ends that session; its communicator has been freed. */
void cx_session_release(void);

/* --- watch.c: calls that the engine does not serve --------------------------
 */

enum {
    CX_WATCH_NEW,
    CX_WATCH_ON,     /* once the driver is loaded */
    CX_WATCH_LOADED, /* now and from now on: it is */
    CX_WATCH_OFF
};
extern _Atomic int cx_watch;

/* The driver was not loaded at this tick; 0: unknown, or it is. */
extern _Atomic uint64_t cx_watch_looked;

static inline uint64_t cx_watch_ticks(void)
{
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

/* Loading the driver and getting memory take longer than this since the last
 * look: 65 to 260 microseconds. */
static inline int cx_watch_quiet(void)
{
#ifdef __x86_64__
    uint64_t looked =
        atomic_load_explicit(&cx_watch_looked, memory_order_relaxed);

    return looked != 0 && cx_watch_ticks() - looked < 1 << 18;
#else
    return 0;
#endif
}

/* MPIX_GPU_SUPPORT_CUDA, which old headers lack. */
enum { CX_GPU_CUDA = 0 };

/* Does MPI say that it takes GPU memory? */
extern _Thread_local int cx_asking_mpi; /* 1 while it is asked */
int cx_mpi_takes_device(void);
/* When settings and the node are known; and for good at the end. */
void cx_watch_begin(void);
void cx_watch_end(void);
/* Must buffers be looked at? Cheap. */
int cx_watching(void);
/* The kind of memory at `addr`, without loading the engine; `*device`: its
 * number, or -1. */
enum cx_mem_kind cx_pointer_kind(uintptr_t addr, int *device);
/* As cx_pointer_kind, of one element of `type` at `addr`; CX_MEM_MIXED: its
 * ends are on the host, but not all of it, or that cannot be told. */
enum cx_mem_kind cx_pointer_kind_of(uintptr_t addr, MPI_Datatype type,
                                    int *device);

/* --- enter.c: the thread-local guard ------------------------------------- */

struct cx_guard {
    uint64_t magic;
    struct cx_guard *self;
};
/* 1: entered, leave later; 0: a call that MPI makes inside one of ours. */
int cx_guard_enter(struct cx_guard *guard);
void cx_guard_leave(struct cx_guard *guard);

/* A handle of the ABI's kind "communicator"; others are MPI's to report. */
static inline int cx_looks_like_comm(MPI_Comm comm)
{
    uint32_t handle = (uint32_t)comm;

    return handle >> 30 != 0 && ((handle >> 26) & 0xf) == 1 &&
           comm != MPI_COMM_NULL;
}

/* --- comm.c, agree.c: what we know of a communicator ---------------------- */

enum cx_comm_state {
    CX_COMM_OFF,     /* final: pass */
    CX_COMM_STAGE,   /* final: never the engine; device buffers are staged */
    CX_COMM_ASLEEP,  /* GPUs, but no rank has loaded the driver yet */
    CX_COMM_ENGAGED, /* the engine has a team */
    CX_COMM_BROKEN,  /* a forced setting cannot work: every call is an error */
    CX_COMM_LOST     /* this rank alone has no part in what the others agreed:
                        its calls are errors */
};

/* Facts of a call that MPI runs, and how many bytes its buffers have; no bytes:
 * nothing is known. */
struct cx_quick {
    enum cx_func func;
    MPI_Datatype type; /* plain, of both buffers */
    MPI_Op op;         /* 0 where the function has none */
    MPI_Count count;   /* of both buffers; allgather: of one block */
    size_t send_bytes, recv_bytes;
};
#define CX_NQUICK 8

struct cx_comm {
    MPI_Comm comm; /* borrowed: the struct dies with it */
    enum cx_comm_state state;
    const char *reason; /* static storage: why not engaged */
    int rank, size;
    int inter;             /* intercommunicator */
    int peers;             /* ranks whose data arrives: size, or the remote's */
    int spare;             /* not from the heap */
    uint64_t ncalls;       /* collectives of ours, while asleep */
    struct cx_team *team;  /* owned, when engaged */
    enum cx_status poison; /* not CX_OK: an engine call failed here; the others
                              hear of it at every later one */
    struct cx_quick quick[CX_NQUICK];
};

/* Cells of communicators that are off: handle << 32 | 1. */
#define CX_OFF_CELLS 256
extern _Atomic uint64_t cx_off_cells[CX_OFF_CELLS];

static inline unsigned cx_off_index(uint32_t handle)
{
    return (handle + (handle >> 30) * 37) & (CX_OFF_CELLS - 1);
}

static inline int cx_comm_is_off(cx_reg comm)
{
    uint32_t handle = (uint32_t)comm;

    return atomic_load_explicit(&cx_off_cells[cx_off_index(handle)],
                                memory_order_relaxed) ==
           ((uint64_t)handle << 32 | 1);
}

/* The state of `comm` after its agreement; collective when it is new or wakes.
 * NULL: not a communicator that MPI knows: pass. */
struct cx_comm *cx_comm_get(MPI_Comm comm);

/* The same where this thread has used it lately; else, and also when there is
 * none, NULL. Not collective. */
struct cx_comm *cx_comm_recent(MPI_Comm comm);

/* Decides c->state together with all ranks of the communicator; CX_COMM_LOST,
 * which has been logged, where MPI fails in it. */
void cx_agree(struct cx_comm *c);

/* --- behind.c: calls that failed here before they reached MPI ------------- */

/* Is there one? */
extern _Atomic int cx_behind;
/* A call ends in an error on this rank and MPI has not heard of it: the other
 * ranks of `comm` may wait for this one. */
void cx_behind_mark(MPI_Comm comm, const char *func, enum cx_status status);
/* The communicator is no more. */
void cx_behind_forget(MPI_Comm comm);
/* Ends the job when there is one on `comm`, on which `func` is called now;
 * MPI_COMM_NULL: on any communicator. */
void cx_behind_stop(MPI_Comm comm, const char *func);
/* Before a collective: out of step it would meet another one of the others. */
static inline void cx_behind_check(MPI_Comm comm, const char *func)
{
    if (atomic_load_explicit(&cx_behind, memory_order_relaxed))
        cx_behind_stop(comm, func);
}

/* --- wait.c: MPI requests of our own ------------------------------------- */

CX_MUST enum cx_status cx_iallreduce(void *comm, int64_t *values, int n,
                                     enum cx_agree_op op,
                                     struct cx_mpi_req *req);
CX_MUST enum cx_status cx_iexchange(void *comm, const struct cx_exchange *ex,
                                    struct cx_mpi_req *req);
CX_MUST enum cx_status cx_test(struct cx_mpi_req *req);
/* cx_iallreduce and wait; after COAX_TIMEOUT says who is missing, and waits
 * on. */
CX_MUST enum cx_status cx_allreduce_wait(struct cx_comm *c, int64_t *values,
                                         int n, enum cx_agree_op op);

/* --- missing.c ------------------------------------------------------------ */

enum cx_missing {
    CX_MISSING_NONE,         /* every process of the job here has the preload */
    CX_MISSING_FOUND,        /* `out` names those that have not */
    CX_MISSING_OTHER_SPEAKS, /* found, and another process will say it */
};
/* Looks among this node's processes of the job for some without the preload.
 * Reads /proc only. */
enum cx_missing cx_missing_describe(char *out, size_t n);

/* --- engine.c: the engine library ----------------------------------------- */

/* Is the library file there? Does not load it. */
int cx_engine_present(void);
/* Loads it once; NULL when it cannot be loaded. Local, silent. */
const struct cx_engine_api *cx_engine(void);
/* Why it could not be loaded; one sentence. */
const char *cx_engine_error(void);
/* Error lines of this thread, in the engine. */
unsigned cx_engine_errors(void);
/* A private communicator of this process alone that returns errors;
 * MPI_COMM_NULL before the engine is loaded, where there is MPI_COMM_SELF. */
MPI_Comm cx_engine_self_comm(void);
/* MPI_COMM_SELF goes away, sessions stay. */
void cx_engine_leave_world(void);
void cx_engine_quiesce(void);
void cx_engine_close(void);
/* Path of the engine library, for messages. */
const char *cx_engine_path(void);

/* --- memory.c: memory kinds and copies, with the engine or without ---------
 */

/* As query and piece of base/gpu.h; copies are complete on return. */
CX_MUST enum cx_status cx_buffer_mem_query(const void *addr, size_t nbytes,
                                           struct cx_mem *out);
CX_MUST enum cx_status cx_buffer_mem_piece(const void *addr, size_t nbytes,
                                           struct cx_mem *out, size_t *n);
CX_MUST enum cx_status cx_buffer_mem_copy(const struct cx_mem *mem, int to_host,
                                          void *dst, const void *src,
                                          size_t nbytes);
CX_MUST enum cx_status cx_buffer_mem_copy2d(const struct cx_mem *mem,
                                            int to_host, void *dst,
                                            size_t dpitch, const void *src,
                                            size_t spitch, size_t width,
                                            size_t rows);

/* --- range.c ----------------------------------------------------------------
 */

/* 1: these bytes cannot be a GPU's, and the driver need not be asked; 0: it
 * must be. */
int cx_range_is_host(const void *addr, size_t nbytes);
/* watch.c: 1: the driver says that these bytes, not none, are on the host from
 * end to end, with one question as a rule; 0: it does not. */
int cx_driver_says_host(uintptr_t addr, size_t nbytes);

/* 1: on the host, told as fast as a small call needs it, without lock and
 * engine; 0: another way to ask must be used. */
static inline int cx_is_host(uintptr_t addr, size_t nbytes)
{
    return cx_range_is_host((const void *)addr, nbytes) ||
           cx_driver_says_host(addr, nbytes);
}

/* --- plain.c: the same by the driver alone, for a rank without engine ------
 */

CX_MUST enum cx_status cx_plain_query(const void *addr, size_t nbytes,
                                      struct cx_mem *out);
CX_MUST enum cx_status cx_plain_piece(const void *addr, size_t nbytes,
                                      struct cx_mem *out, size_t *n);
CX_MUST enum cx_status cx_plain_copy2d(const struct cx_mem *mem, int to_host,
                                       void *dst, size_t dpitch,
                                       const void *src, size_t spitch,
                                       size_t width, size_t rows);

/* --- handles.c: MPI handles to engine enums --------------------------------
 */

/* A predefined type? Not those of MPI_Type_create_f90_*. */
int cx_type_basic(MPI_Datatype type);
enum cx_dtype cx_dtype_of(MPI_Datatype type); /* CX_DT_NONE: not reducible */
enum cx_redop cx_redop_of(MPI_Op op);
MPI_Datatype cx_dtype_to_mpi(enum cx_dtype dtype);
MPI_Op cx_redop_to_mpi(enum cx_redop op);

/* --- buffer.c: a choice buffer, wherever it lies ----------------------------
 */

struct cx_buffer {
    void *addr;
    MPI_Count count;
    MPI_Datatype type;
    /* filled by cx_buffer_init */
    MPI_Count size, lb, extent, true_lb, true_extent; /* of one element */
    int usable;    /* committed: MPI will pack it */
    int plain;     /* basic, and its size is in its handle */
    int dense;     /* basic type: the bytes in memory are the signature */
    size_t nbytes; /* of the signature, all elements */
    ptrdiff_t low; /* first byte touched, relative to addr */
    size_t span;   /* bytes from the first to the last byte touched */
    struct cx_mem mem;
};

CX_MUST enum cx_status cx_buffer_init(struct cx_buffer *buf, const void *addr,
                                      MPI_Count count, MPI_Datatype type);
/* Another address and count for the type of an initialised buffer. */
CX_MUST enum cx_status cx_buffer_recount(struct cx_buffer *buf,
                                         const void *addr, MPI_Count count);
/* Fills buf->mem; host without asking when the driver is not loaded. */
CX_MUST enum cx_status cx_buffer_query(struct cx_buffer *buf);
/* May the engine have the buffer as it is (else packed)? After the query. */
static inline int cx_buffer_direct(const struct cx_buffer *buf)
{
    return buf->dense && buf->mem.kind != CX_MEM_MIXED;
}
/* Between the user's layout, on any memory, and nbytes of packed host memory.
 */
CX_MUST enum cx_status cx_buffer_pack(const struct cx_buffer *buf,
                                      void *packed);
CX_MUST enum cx_status cx_buffer_unpack(const struct cx_buffer *buf,
                                        const void *packed);

/* Between a buffer in several memories and a host image of its span, holes
 * excepted. */
CX_MUST enum cx_status cx_buffer_copy_image(const struct cx_buffer *buf,
                                            char *image, int to_host);
/* Brings a whole host image of the span to the device, holes excepted. */
CX_MUST enum cx_status cx_buffer_write_back(const struct cx_buffer *buf,
                                            const char *host);

/* For sparse.c: the first byte touched; 0xff to all bytes that the type
 * describes in a host image of the span; the next run of 0xff at or after
 * `*at`, 0 when there is none. */
char *cx_buffer_first_byte(const struct cx_buffer *buf);
CX_MUST enum cx_status cx_buffer_mark(const struct cx_buffer *buf, void *image);
size_t cx_buffer_next_run(const unsigned char *mask, size_t span, size_t *at);

struct cx_sparse;
/* A host stand-in for a device buffer during one MPI call. */
struct cx_mirror {
    void *host; /* owned; NULL when the user's buffer is used as it is */
    void *addr; /* what to give to MPI; NULL when open found no memory */
    struct cx_sparse *sparse; /* owned; of a buffer in several memories */
};
CX_MUST enum cx_status cx_mirror_open(struct cx_mirror *mirror,
                                      const struct cx_buffer *buf, int copy_in);
/* With `copy_out`, brings back the bytes that the type describes. */
CX_MUST enum cx_status cx_mirror_close(struct cx_mirror *mirror,
                                       const struct cx_buffer *buf,
                                       int copy_out);

/* --- pair.c: the send and receive buffer of a call ---------------------------
 */

struct cx_pair {
    struct cx_buffer send, recv; /* send: unset when in place */
    int in_place;
};

/* The MPI call on the buffers given; `arg` is the caller's. */
typedef int (*cx_pair_call_fn)(const void *arg, const void *send, void *recv);

CX_MUST enum cx_status cx_pair_query(struct cx_pair *pair);
uint64_t cx_pair_device_bytes(const struct cx_pair *pair);
/* For `mpi_rc`: MPI was not called. */
#define CX_NOT_CALLED (-1)
/* Runs `call` with device buffers mirrored in host memory; `*mpi_rc` is what it
 * returns, if it comes to that. */
CX_MUST enum cx_status cx_pair_staged(const struct cx_pair *pair,
                                      cx_pair_call_fn call, const void *arg,
                                      int *mpi_rc);

/* --- stats.c ----------------------------------------------------------------
 */

enum cx_way { CX_WAY_ENGINE, CX_WAY_STAGED, CX_WAY_PASSED };

/* `detail`: the algorithm, or why not the engine; static storage. */
void cx_stats_record(enum cx_func func, enum cx_way way, const char *detail,
                     size_t nbytes, uint64_t device_bytes, double time_us);
/* A call that the engine does not know, by the name to print. */
void cx_stats_staged(const char *func, uint64_t device_bytes, double time_us);
void cx_stats_print(void);

/* --- call.c: the way of one call --------------------------------------------
 */

/* A collective on its way. The wrapper's registers stay untouched: when a
 * cx_front_* function returns 0, the caller tail-calls MPI with them. */
struct cx_entry {
    struct cx_comm *c;
    struct cx_guard guard;
    double start_us; /* 0: no statistics */
};
/* A call of `func` has failed: says so where whoever failed has not. */
void cx_say_failure(const char *func, enum cx_status status);
/* A code of the class with a text of ours, or the class itself where the MPI
 * does not keep the text. */
int cx_error_code(int class, const char *text);
/* Calls the communicator's error handler; returns the MPI error code. */
int cx_raise(MPI_Comm comm, enum cx_status status);
/* 1: handle the call here (then cx_entry_end); 0: pass it to MPI. */
int cx_entry_begin(struct cx_entry *entry, MPI_Comm comm, enum cx_func func);
/* Records the call and leaves; returns the MPI error code for `status`. A call
 * that failed on its way to MPI (CX_NOT_CALLED) leaves this rank behind. */
int cx_entry_end(struct cx_entry *entry, enum cx_func func, enum cx_way way,
                 const char *detail, size_t nbytes, uint64_t device_bytes,
                 enum cx_status status, int mpi_rc);

/* Leaves; 0, for the wrapper to hand the call to MPI as it came. */
int cx_entry_pass(struct cx_entry *entry, enum cx_func func, const char *why,
                  size_t nbytes);

/* The engine's collective. What keeps this rank from it is said first: the
 * others may end the job when they hear. */
CX_MUST enum cx_status cx_collective(struct cx_comm *c,
                                     const struct cx_call *call,
                                     struct cx_result *result);

/* The engine declined, on all ranks: stage instead. */
void cx_entry_declined(enum cx_way *way, const char **why,
                       enum cx_status *status);

/* Which way a call of these agreed facts takes on this communicator. `*why`:
 * algorithm unknown yet, or why it is not the engine. */
enum cx_way cx_way_of(struct cx_comm *c, struct cx_call *call, const char **why,
                      enum cx_status *status);
/* Does the call pass to MPI untouched after all? Because MPI may see any
 * buffer, or because all of this rank's (`b` may be NULL) are on the host and
 * COAX_SCOPE=device; then `*why` says so. */
int cx_passes(const struct cx_entry *entry, enum cx_way way,
              struct cx_buffer *a, struct cx_buffer *b, const char **why);

/* --- quick.c ----------------------------------------------------------------
 */

/* 1: a call of these facts was left to MPI before, and its buffers lie on the
 * host: pass it. `send` may be MPI_IN_PLACE. Called before anything else. */
int cx_quick_pass(MPI_Comm comm, const struct cx_quick *call, const void *send,
                  const void *recv);
/* Such a call has passed because its buffers lie on the host. */
void cx_quick_learn(const struct cx_entry *entry, const struct cx_quick *call,
                    size_t send_bytes, size_t recv_bytes);

/* --- allreduce.c, bcast.c, allgather.c ---------------------------------------
 */

/* 1: done, `*rc` is the answer; 0: pass the call to MPI as it came. */
int cx_front_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm comm, int *rc);
int cx_front_bcast(void *buffer, MPI_Count count, MPI_Datatype type, int root,
                   MPI_Comm comm, int *rc);
int cx_front_allgather(const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, void *recvbuf,
                       MPI_Count recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm, int *rc);

#endif
