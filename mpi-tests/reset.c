/* SPDX-License-Identifier: BSD-3-Clause */
/* reset.c - cudaDeviceReset between collectives: what was kept of the old
 * context must not be used in the new one. */
#include <stdlib.h>

#include "mt.h"
#include "mtbuf.h"

#define N 65536 /* floats: several tiles */
#define ROUNDS 4

static void one_round(int round, float *data)
{
    size_t nbytes = N * sizeof *data;
    struct mt_buf buf;
    int rc;

    mt_buf_create(&buf, MT_DEVICE, nbytes, 0);
    mt_buf_arm(&buf, nbytes, 0);
    for (int i = 0; i < N; i++)
        data[i] = (float)(mt.rank + round + i % 100);
    mt_buf_write(&buf, 0, data, nbytes);
    rc = MPI_Allreduce(MPI_IN_PLACE, buf.ptr, N, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD);
    for (int i = 0; i < N; i++)
        data[i] =
            (float)(mt.size * (mt.size - 1) / 2 + mt.size * (round + i % 100));
    mt_check(!rc && mt_buf_differs(&buf, 0, data, nbytes) < 0,
             "the sum after %d resets is wrong", round);
    mt_check(mt_buf_guarded(&buf, nbytes), "guard bytes are gone");
    if (round % 2) /* else the reset takes it */
        mt_buf_destroy(&buf);
}

int main(void)
{
    float *data = mt_alloc(N * sizeof *data);

    mt_init();
    mt_cuda_open();
    for (int round = 0; round < ROUNDS; round++) {
        one_round(round, data);
        mt_cuda_ok(cuda.DeviceReset(), "cudaDeviceReset");
    }
    free(data);
    return mt_finish();
}
