// SPDX-License-Identifier: BSD-3-Clause
// binding_cxx.cc - the three functions from C++: the C functions, and the C++
// bindings that MPI 3 has removed and MPICH still has. An error handler throws
// out of a call.
#include <cstdio>
#include <mpi.h>
#include <stdexcept>
#include <vector>

#include "binding_memory.h"

namespace
{
int rank, size, bad;

void check(const double *at, int n, double factor, double add)
{
    std::vector<double> host(n);

    bm_read(host.data(), at, n * sizeof(double));
    for (int i = 0; i < n; i++)
        bad += host[i] != factor * i + add;
}

void fill(double *at, int n)
{
    std::vector<double> host(n);

    for (int i = 0; i < n; i++)
        host[i] = rank + i;
    bm_write(at, host.data(), n * sizeof(double));
}

void throw_it(MPI_Comm *, int *, ...)
{
    throw std::runtime_error("from a handler");
}

// A frame of C lies between: MPICH and Coax are built with unwind tables.
void throwing_handler(double *a, double *b)
{
    MPI_Errhandler handler;
    bool caught = false;

    MPI_Comm_create_errhandler(throw_it, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    try {
        MPI_Allreduce(a, b, 8, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
    } catch (const std::runtime_error &) {
        caught = true;
    }
    bad += !caught;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}
} // namespace

int main(int argc, char **argv)
{
    const int n = BINDING_N, block = BINDING_BLOCK;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const double sum = size * (size - 1) / 2.0;
    auto *a = static_cast<double *>(bm_alloc(n * sizeof(double)));
    auto *b = static_cast<double *>(bm_alloc(n * sizeof(double)));

    if (argc > 1) {
        throwing_handler(a, b);
    }
    fill(a, n);
    MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(b, n, size, sum);
    MPI_Bcast(a, n, MPI_DOUBLE, size - 1, MPI_COMM_WORLD);
    check(a, n, 1, size - 1);
    MPI_Allgather(a, block, MPI_DOUBLE, b, block, MPI_DOUBLE, MPI_COMM_WORLD);
    check(b + block * (size - 1), block, 1, size - 1);
#ifdef MPIX_CALLREF
    fill(a, n);
    MPI::COMM_WORLD.Allreduce(MPI::IN_PLACE, a, n, MPI::DOUBLE, MPI::SUM);
    check(a, n, size, sum);
    fill(a, n);
    MPI::COMM_WORLD.Bcast(a, n, MPI::DOUBLE, size - 1);
    check(a, n, 1, size - 1);
    MPI::COMM_WORLD.Allgather(a, block, MPI::DOUBLE, b, block, MPI::DOUBLE);
    check(b, block, 1, size - 1);
    if (rank == 0)
        std::printf("calls 2 2 2\n");
#else
    if (rank == 0)
        std::printf("calls 1 1 1\n");
#endif
    std::fflush(stdout);
    MPI_Finalize();
    return bad != 0;
}
