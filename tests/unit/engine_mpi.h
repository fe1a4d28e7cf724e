/* SPDX-License-Identifier: BSD-3-Clause */
/* engine_mpi.h - the services of an MPI to engines that are ranks of one
 * process: communicators whose ranks meet in memory. */
#ifndef ENGINE_MPI_H
#define ENGINE_MPI_H

#include "base/bridge.h"

struct engine_comm;

/* One rank of a communicator; what the engine gets as `comm`. */
struct engine_member {
    struct engine_comm *comm;
    int rank;
    unsigned ncalls;
};

struct engine_comm *engine_comm_create(int size);
void engine_comm_destroy(struct engine_comm *comm);
struct engine_member *engine_comm_member(struct engine_comm *comm, int rank);

/* The same for all ranks; thread safe. */
extern const struct cx_mpi_services engine_services;

#endif
