/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c - the default streams come first: work that the program has queued on
 * them before a call is done when the call reads, and when it writes.
 *
 * order [--stream=legacy|thread]; on the simulated GPU, which can be told to
 * start everything late. */
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define N 3000
#define NBYTES (N * sizeof(double))
#define DELAY_US 3000

static void *stream; /* NULL: legacy default; 2: per thread */
static struct mt_buf pinned, old_data, new_data, send, recv, copy;

static void fill(struct mt_buf *buf, double base)
{
    double data[N];

    for (int i = 0; i < N; i++)
        data[i] = base + i;
    mt_buf_arm(buf, NBYTES, 0);
    mt_buf_write(buf, 0, data, NBYTES);
}

static void expect(const struct mt_buf *buf, double base, double slope,
                   const char *what)
{
    double want[N];

    for (int i = 0; i < N; i++)
        want[i] = base + slope * i;
    mt_check(mt_buf_differs(buf, 0, want, NBYTES) < 0, "%s", what);
}

static void queue(struct mt_buf *dst, const struct mt_buf *src, int kind)
{
    mt_cuda_ok(cuda.MemcpyAsync(dst->ptr, src->ptr, NBYTES, kind, stream),
               "cudaMemcpyAsync");
}

/* `send` gets its data by a copy that is still waiting when MPI is called. */
static void reads_after(const struct mt_buf *src, int kind, const char *what)
{
    double sum = mt.size * (mt.size - 1) / 2 * 10.0;

    fill(&send, -1e6);
    fill(&recv, 0);
    mt_sim_delay(DELAY_US);
    queue(&send, src, kind);
    MPI_Allreduce(send.ptr, recv.ptr, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    mt_sim_delay(0);
    expect(&recv, sum, mt.size, what);

    fill(&send, -1e6);
    mt_sim_delay(DELAY_US);
    queue(&send, src, kind);
    MPI_Bcast(send.ptr, N, MPI_DOUBLE, 1 % mt.size, MPI_COMM_WORLD);
    mt_sim_delay(0);
    expect(&send, 10.0 * (1 % mt.size), 1, what);
}

/* A copy of the old result is still waiting when the call overwrites it. */
static void writes_after(void)
{
    double sum = mt.size * (mt.size - 1) / 2 * 10.0;

    fill(&send, mt.rank * 10.0);
    fill(&recv, 4e5);
    fill(&copy, 0);
    mt_sim_delay(DELAY_US);
    queue(&copy, &recv, MT_D2D);
    MPI_Allreduce(send.ptr, recv.ptr, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    mt_sim_delay(0);
    mt_cuda_ok(cuda.DeviceSynchronize(), "cudaDeviceSynchronize");
    expect(&recv, sum, mt.size, "the result");
    expect(&copy, 4e5, 1, "a copy queued before the call got the new data");
}

/* On return the result is there for the default stream. */
static void complete_on_return(void)
{
    double sum = mt.size * (mt.size - 1) / 2 * 10.0;

    fill(&send, mt.rank * 10.0);
    fill(&recv, 0);
    fill(&copy, 0);
    mt_sim_delay(DELAY_US);
    MPI_Allreduce(send.ptr, recv.ptr, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    queue(&copy, &recv, MT_D2D);
    mt_sim_delay(0);
    mt_cuda_ok(cuda.DeviceSynchronize(), "cudaDeviceSynchronize");
    expect(&copy, sum, mt.size, "a copy queued after the call got old data");
}

int main(int argc, char **argv)
{
    struct mt_buf *const on_device[] = {&old_data, &new_data, &send, &recv,
                                        &copy};

    mt_init();
    mt_cuda_open();
    if (!strcmp(mt_option(argc, argv, "stream", "legacy"), "thread"))
        stream = (void *)2;
    mt_buf_create(&pinned, MT_PINNED, NBYTES, 0);
    for (int i = 0; i < 5; i++)
        mt_buf_create(on_device[i], MT_DEVICE, NBYTES, 0);
    for (int round = 0; round < 3; round++) {
        fill(&pinned, mt.rank * 10.0);
        fill(&new_data, mt.rank * 10.0);
        reads_after(&pinned, MT_H2D, "data of a queued copy from the host");
        reads_after(&new_data, MT_D2D, "data of a queued copy on the device");
        writes_after();
        complete_on_return();
    }
    for (int i = 0; i < 5; i++)
        mt_buf_destroy(on_device[i]);
    mt_buf_destroy(&pinned);
    return mt_finish();
}
