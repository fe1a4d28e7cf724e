/* SPDX-License-Identifier: BSD-3-Clause */
/* t.h - what the tests of the simulated GPU share. A test that fails says
 * where and ends with 1. Most of them hold on a real GPU too. */
#ifndef SIMGPU_T_H
#define SIMGPU_T_H

#include "simgpu/counters.h"

#include <cuda.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition) t_check((condition) != 0, #condition, __LINE__)
#define OK(call) t_is((int)(call), 0, #call, __LINE__)
#define IS(call, want) t_is((int)(call), (int)(want), #call, __LINE__)

static inline void t_check(int good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "line %d: not so: %s\n", line, what);
    exit(1);
}

static inline void t_is(int got, int want, const char *what, int line)
{
    if (got == want)
        return;
    fprintf(stderr, "line %d: %s gave %d, not %d\n", line, what, got, want);
    exit(1);
}

/* The primary context of a device, current. */
static inline CUcontext t_context(int device)
{
    CUcontext ctx;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, device));
    OK(cuCtxSetCurrent(ctx));
    return ctx;
}

static inline int t_all(const void *mem, int byte, size_t n)
{
    const unsigned char *p = mem;
    for (size_t i = 0; i < n; i++)
        if (p[i] != byte)
            return 0;
    return 1;
}

/* The live counters of this process, and what steers it. */
static inline const struct simgpu_control *t_control(void)
{
    static const CUuuid id = SIMGPU_CONTROL_UUID;
    const void *table;
    OK(cuGetExportTable(&table, &id));
    return table;
}

static inline struct simgpu_counters *t_counters(void)
{
    return t_control()->counters;
}

/* Work in a stream that ends when told to: what follows it has to wait. */
struct t_gate {
    sem_t open;
};

static inline void t_gate_wait(void *arg)
{
    struct t_gate *g = arg;
    while (sem_wait(&g->open) != 0)
        continue;
}

static inline void t_gate_close(struct t_gate *g, CUstream s)
{
    CHECK(sem_init(&g->open, 0, 0) == 0);
    OK(cuLaunchHostFunc(s, t_gate_wait, g));
}

static inline void t_gate_open(struct t_gate *g)
{
    sem_post(&g->open);
}

static sigjmp_buf t_fault_return;

static inline void t_fault_handler(int sig)
{
    (void)sig;
    siglongjmp(t_fault_return, 1);
}

/* Whether the CPU may read, or write, this byte. */
static inline int t_cpu_can(volatile char *p, int write)
{
    struct sigaction sa = {.sa_handler = t_fault_handler}, old_segv, old_bus;
    volatile int can = 0;
    sigaction(SIGSEGV, &sa, &old_segv);
    sigaction(SIGBUS, &sa, &old_bus);
    if (sigsetjmp(t_fault_return, 1) == 0) {
        if (write)
            *p = 1;
        else
            (void)*p;
        can = 1;
    }
    sigaction(SIGSEGV, &old_segv, NULL);
    sigaction(SIGBUS, &old_bus, NULL);
    return can;
}

static inline void t_send(int fd, const void *data, size_t n)
{
    CHECK(write(fd, data, n) == (ssize_t)n);
}

static inline void t_receive(int fd, void *data, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t k = read(fd, (char *)data + got, n - got);
        CHECK(k > 0);
        got += (size_t)k;
    }
}

/* One byte each way: both have come this far. */
static inline void t_meet(int fd)
{
    char byte = 'x';
    t_send(fd, &byte, 1);
    t_receive(fd, &byte, 1);
}

/* Two processes, joined by a socket, neither of which has used CUDA. Returns
 * in the first one, when both have ended, what the test exits with. */
static inline int t_pair(void (*exporter)(int fd), void (*importer)(int fd))
{
    int fds[2], status;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        close(fds[0]);
        importer(fds[1]);
        exit(0);
    }
    close(fds[1]);
    exporter(fds[0]);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#endif
