/* SPDX-License-Identifier: BSD-3-Clause */
/* choice.h - which algorithm, tile size and depth for a call.
 *
 * A pure function of facts equal on all ranks (design rule 3). Until the cost
 * model comes, thresholds by size; COAX_ALGO overrides them. */
#ifndef CX_CHOICE_H
#define CX_CHOICE_H

#include <stddef.h>

#include "base/status.h"
#include "base/types.h"

/* Names of algorithms, from the registry: the `i`-th of `func`, or NULL. */
typedef const char *(*cx_names_fn)(enum cx_func func, int i);

struct cx_chooser;

/* Parses `algo` (COAX_ALGO; NULL or "" forces nothing). CX_ERR_CONFIG: it is
 * malformed or names what does not exist; `why` gets one sentence. */
CX_MUST enum cx_status cx_chooser_create(const char *algo, size_t small,
                                         cx_names_fn names, char *why,
                                         size_t why_size,
                                         struct cx_chooser **out);
void cx_chooser_destroy(struct cx_chooser *chooser);

struct cx_choice_facts {
    enum cx_func func;
    size_t nbytes; /* allreduce, bcast: the vector; allgather: all blocks */
    int nranks;
    int mpi_is_wrong; /* PMPI failed the self-test for this type and op */
};

struct cx_choice {
    const char *algorithm; /* NULL: leave the call to MPI */
    const char *why;       /* then: why; static storage */
    size_t tile_bytes;     /* of the vector; allgather: of one block */
    int depth;
};

void cx_choose(const struct cx_chooser *chooser,
               const struct cx_choice_facts *facts, struct cx_choice *out);

#endif
