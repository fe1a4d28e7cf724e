/* SPDX-License-Identifier: BSD-3-Clause */
/* state_tiny.c - what belongs to the program is as it was, where nobody but
 * Coax brings UCX: linked to tinympi.c, one rank. */
#include "hoststate.h"
#include "mt.h"

#define N 6000

int main(void)
{
    static double a[N], b[N];
    int rc, right = 1;

    mt_init();
    hs_begin(0);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++)
            a[i] = i + round;
        MPI_Allreduce(a, b, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        hs_check("an allreduce");
        for (int i = 0; i < N; i++)
            right &= b[i] == a[i];
        MPI_Bcast(a, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        hs_check("a broadcast");
    }
    mt_check(right, "the result is wrong");
    rc = mt_finish();
    hs_flushed();
    hs_check("MPI_Finalize");
    return rc || mt.failures;
}
