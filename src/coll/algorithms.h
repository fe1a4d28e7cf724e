/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithms.h - the generators; each is the only export of its file. */
#ifndef CX_ALGORITHMS_H
#define CX_ALGORITHMS_H

#include "coll/plan.h"

extern const struct cx_algorithm cx_allreduce_rdouble, cx_allreduce_ring;
extern const struct cx_algorithm cx_bcast_knomial, cx_bcast_chain;
extern const struct cx_algorithm cx_allgather_ring, cx_allgather_bruck;

#endif
