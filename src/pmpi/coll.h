/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - the buffers of any collective, read from the table in coll.def. */
#ifndef CX_COLL_H
#define CX_COLL_H

#include "pmpi/front.h"

enum cx_layout {
    CX_LAYOUT_NONE,
    CX_LAYOUT_ONE,
    CX_LAYOUT_EACH,
    CX_LAYOUT_SUM,
    CX_LAYOUT_OWN,
    CX_LAYOUT_VEC,
    CX_LAYOUT_WVEC
};

enum cx_whom { CX_LOCAL, CX_PEERS, CX_FROM, CX_TO };

enum {
    CX_COLL_REDUCES = 1,     /* in place, the input stands in recvbuf, laid out
                                as sendbuf would be */
    CX_COLL_TO_ROOT = 2,     /* recvbuf is significant at the root only */
    CX_COLL_FROM_ROOT = 4,   /* sendbuf is */
    CX_COLL_NOT_FIRST = 8,   /* rank 0 receives nothing */
    CX_COLL_ONE_BUFFER = 16, /* called "buffer" */
    CX_COLL_NEIGHBORS = 32,  /* among those of a topology */
    CX_COLL_WIDE = 64,       /* displacements are MPI_Aint in every form */
    CX_COLL_INOUT = 128      /* recvbuf is read, too */
};

/* One of a collective's two buffers; numbers of arguments. */
struct cx_side {
    enum cx_layout layout;
    enum cx_whom whom;
    int buf, count, displs, type;
};

struct cx_coll {
    const char *name; /* of the blocking form: "MPI_Gather" */
    const char *stem; /* "gather" */
    int args;         /* of the blocking form */
    struct cx_side send, recv;
    int root, comm; /* -1: none */
    int flags;
};

/* Rows of the table, by name. */
enum cx_coll_id {
#define CX_COLL(name, ...) CX_COLL_##name,
#define CX_COLL_LOCAL(name, ...) CX_COLL_##name,
#include "pmpi/coll.def"
    CX_NCOLLS
};
extern const struct cx_coll cx_colls[CX_NCOLLS];

/* One call: the row, the registers, and what MPI knows of its communicator. */
struct cx_coll_call {
    const struct cx_coll *coll;
    const cx_reg *args;
    int large; /* counts are MPI_Count */
    MPI_Comm comm;
    int root, rank, size, peers, inter;
    int from, to, cart; /* neighbours */
};

/* 0: erroneous, or not to be understood: MPI must report it. */
int cx_coll_read(struct cx_coll_call *call, enum cx_coll_id id, int large,
                 const cx_reg *args);
/* Does this rank's call use the buffer? Not when MPI_IN_PLACE stands for it. */
int cx_coll_uses(const struct cx_coll_call *call, const struct cx_side *side);
int cx_coll_in_place(const struct cx_coll_call *call,
                     const struct cx_side *side);

/* The buffer's parts, in the memory at `base`: one, or one for each peer. */
int cx_coll_nblocks(const struct cx_coll_call *call,
                    const struct cx_side *side);
struct cx_block {
    ptrdiff_t offset; /* from the buffer's address */
    MPI_Count count;
    MPI_Datatype type;
};
/* `extent`: of the side's type, for VEC. 0 when the count is no count. */
int cx_coll_block(const struct cx_coll_call *call, const struct cx_side *side,
                  int i, MPI_Count extent, struct cx_block *out);
/* How the input in recvbuf is laid out, besides the output; NULL: none. */
const struct cx_side *cx_coll_input(const struct cx_coll_call *call);

/* The function of MPI, when it is known and all buffers that this rank's call
 * uses are host memory: blocks of basic types, told at once and without the
 * communicator. NULL: look at all of it. */
cx_fn cx_coll_pass(enum cx_coll_id id, enum cx_wrapped which,
                   const cx_reg *args);

/* Does a buffer that this rank's call uses lie in memory of these kinds (a set
 * of bits 1 << kind)? 0: the arguments cannot be understood. */
struct cx_found {
    int yes, is_recv, device;
};
int cx_coll_on_gpu(const struct cx_coll_call *call, unsigned kinds,
                   struct cx_found *found);

/* staged.c: the call of a blocking form, with all 13 of cx_call_mpi. */
int cx_staged(enum cx_coll_id id, int large, enum cx_wrapped which,
              const cx_reg *args);

#endif
