/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks.c - small calls from where the stack is not the usual one: a
 * coroutine whose stack lies in the heap, so that device memory lies between
 * it and the main stack; a thread; a thread on memory of its own. Device
 * buffers, stack buffers, and both.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "mt.h"
#include "mtbuf.h"

#define N 16
#define STACK ((size_t)256 << 10)

static struct mt_buf device;

/* The calls that are left to MPI, thrice each: the first teaches Coax, the
 * others find what it has learnt. */
static void calls(const char *where)
{
    double local[2 * N], want[2 * N], out[2 * N];
    size_t nbytes = N * sizeof *local;

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N; i++) {
            local[i] = mt.rank + i;
            want[i] = mt.size * (mt.size - 1) / 2 + (double)mt.size * i;
        }
        mt_buf_write(&device, 0, local, nbytes);
        MPI_Allreduce(local, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        mt_check(!memcmp(out, want, nbytes), "%s: host to host", where);
        MPI_Allreduce(local, device.ptr, N, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        mt_check(mt_buf_differs(&device, 0, want, nbytes) < 0,
                 "%s: host to device", where);
        mt_buf_write(&device, 0, local, nbytes);
        MPI_Allreduce(device.ptr, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        mt_check(!memcmp(out, want, nbytes), "%s: device to host", where);
        MPI_Bcast(device.ptr, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        mt_buf_read(&device, 0, out, nbytes);
        mt_check(out[0] == 0, "%s: broadcast of device memory", where);
        MPI_Bcast(local, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        mt_check(local[0] == 0, "%s: broadcast of host memory", where);
    }
}

static ucontext_t here, there;

static void coroutine(void)
{
    calls("a coroutine");
}

static void in_coroutine(void)
{
    size_t nbytes = 100 << 10; /* less than malloc maps by itself */
    char *stack = malloc(nbytes);

    mt_check(stack != NULL && (unsigned char *)stack < device.ptr,
             "the coroutine's stack is not below the device's memory");
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = nbytes;
    there.uc_link = &here;
    makecontext(&there, coroutine, 0);
    swapcontext(&here, &there);
    free(stack);
}

static void *work(void *name)
{
    mt_cuda_ok(cuda.SetDevice(0), "cudaSetDevice");
    calls(name);
    return NULL;
}

static void in_thread(const pthread_attr_t *attr, char *name)
{
    pthread_t thread;

    if (pthread_create(&thread, attr, work, name))
        mt_die("cannot start a thread");
    pthread_join(thread, NULL);
}

int main(void)
{
    pthread_attr_t attr;
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mt_init_thread(MPI_THREAD_MULTIPLE);
    mt_buf_create(&device, MT_DEVICE, 2 * N * sizeof(double), 0);
    mt_buf_arm(&device, 2 * N * sizeof(double), 0);
    calls("the main thread");
    in_coroutine();
    in_thread(NULL, "a thread");
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, STACK);
    in_thread(&attr, "a thread on a stack of its own");
    pthread_attr_destroy(&attr);
    calls("the main thread again");
    mt_buf_destroy(&device);
    return mt_finish();
}
