/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c - the send and receive buffer of one call, staged together. */
#include "pmpi/front.h"

enum cx_status cx_pair_query(struct cx_pair *pair)
{
    enum cx_status status = cx_buffer_query(&pair->recv);

    if (status == CX_OK && !pair->in_place)
        status = cx_buffer_query(&pair->send);
    return status;
}

uint64_t cx_pair_device_bytes(const struct cx_pair *pair)
{
    uint64_t total = 0;

    if (cx_mem_on_gpu(&pair->recv.mem))
        total += pair->recv.nbytes;
    if (!pair->in_place && cx_mem_on_gpu(&pair->send.mem))
        total += pair->send.nbytes;
    return total;
}

enum cx_status cx_pair_staged(const struct cx_pair *pair, cx_pair_call_fn call,
                              const void *arg, int *mpi_rc)
{
    struct cx_mirror send = {0}, recv = {0};
    enum cx_status status, closed;

    status = cx_mirror_open(&recv, &pair->recv, pair->in_place);
    if (status == CX_OK && !pair->in_place)
        status = cx_mirror_open(&send, &pair->send, 1);
    if (status == CX_OK)
        *mpi_rc =
            call(arg, pair->in_place ? MPI_IN_PLACE : send.addr, recv.addr);
    closed = cx_mirror_close(&recv, &pair->recv,
                             status == CX_OK && *mpi_rc == MPI_SUCCESS);
    if (!pair->in_place && cx_mirror_close(&send, &pair->send, 0) != CX_OK)
        closed = CX_ERR_GPU;
    return status != CX_OK ? status : closed;
}
