/* SPDX-License-Identifier: BSD-3-Clause */
/* life.c - what programs do around collectives: an error handler that jumps out
 * of a call, signal handlers of their own, children, and collectives in a
 * callback of MPI_COMM_SELF during MPI_Finalize.
 *
 * life [--gpu] */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"

#define N 4000

static jmp_buf back;
static enum mt_kind kind = MT_HOST;
static int returns;     /* errors after which the call went on */
static int late_result; /* 1: the callback ran and its sum was right */

static int allreduce(const char *when)
{
    double data[N], want[N];
    struct mt_buf buf;
    int ok;

    for (int i = 0; i < N; i++) {
        data[i] = mt.rank + i;
        want[i] = mt.size * (mt.size - 1) / 2 + (double)mt.size * i;
    }
    mt_buf_create(&buf, kind, sizeof data, 0);
    mt_buf_arm(&buf, sizeof data, 0);
    mt_buf_write(&buf, 0, data, sizeof data);
    MPI_Allreduce(MPI_IN_PLACE, buf.ptr, N, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    ok = mt_check(mt_buf_differs(&buf, 0, want, sizeof want) < 0,
                  "%s: the result is wrong", when);
    mt_buf_destroy(&buf);
    return ok;
}

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

static void go_on(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    returns++;
}

/* A small call from far down the stack, after errors raised higher up. */
static __attribute__((noinline)) void from_a_large_frame(struct mt_buf *buf)
{
    volatile char frame[1 << 17];
    double one[4] = {1, 1, 1, 1}, want[4];

    for (int i = 0; i < 4; i++)
        want[i] = mt.size;
    frame[0] = frame[sizeof frame - 1] = 1;
    mt_buf_write(buf, 0, one, sizeof one);
    MPI_Allreduce(MPI_IN_PLACE, buf->ptr, 4, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    mt_check(mt_buf_differs(buf, 0, want, sizeof want) < 0 && frame[0] == 1,
             "after an error, from a large frame: the result is wrong");
}

/* Calls that MPI refuses while Coax is in them: the handler jumps out of both,
 * or returns. The next call must be taken again. */
static void refused_calls(void)
{
    struct mt_buf send, recv;
    MPI_Errhandler handler, other;
    volatile int jumps = 0;

    mt_buf_create(&send, kind, 64, 0);
    mt_buf_create(&recv, kind, 64, 0);
    mt_buf_arm(&send, 64, 0);
    mt_buf_arm(&recv, 64, 0);
    MPI_Comm_create_errhandler(jump, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 3; i++) {
        if (setjmp(back))
            jumps++;
        else
            MPI_Allreduce(send.ptr, recv.ptr, 4, MPI_DOUBLE, MPI_BAND,
                          MPI_COMM_WORLD);
    }
    mt_check(jumps == 3, "%d jumps of 3", jumps);
    from_a_large_frame(&recv);
    MPI_Comm_create_errhandler(go_on, &other);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, other);
    MPI_Allreduce(send.ptr, recv.ptr, 4, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
    mt_check(returns == 1, "the handler ran %d times", returns);
    from_a_large_frame(&recv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&other);
    mt_buf_destroy(&send);
    mt_buf_destroy(&recv);
}

static void on_signal(int number)
{
    (void)number;
}

static const int signals[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,
                              SIGABRT, SIGTERM, SIGUSR1, SIGCHLD};
enum { NSIGNALS = sizeof signals / sizeof *signals };

static void set_handlers(void)
{
    struct sigaction act = {.sa_handler = on_signal};

    for (int i = 0; i < NSIGNALS; i++)
        sigaction(signals[i], &act, NULL);
}

static void check_handlers(void)
{
    for (int i = 0; i < NSIGNALS; i++) {
        struct sigaction now;

        sigaction(signals[i], NULL, &now);
        mt_check(now.sa_handler == on_signal,
                 "the program's handler of signal %d is gone", signals[i]);
        signal(signals[i], SIG_DFL);
    }
}

/* A child does nothing with MPI and ends well; so does another program. */
static void have_children(void)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(7);
    waitpid(pid, &status, 0);
    mt_check(WIFEXITED(status) && WEXITSTATUS(status) == 7,
             "a child ended with status %#x", (unsigned)status);
    status = system("exit 5");
    mt_check(WIFEXITED(status) && WEXITSTATUS(status) == 5,
             "a command ended with status %#x", (unsigned)status);
}

/* HDF5 flushes its files in such a callback, after ours has run. */
static int at_the_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    double mine = mt.rank, sum = -1;

    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    late_result = allreduce("during MPI_Finalize");
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&mine, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    late_result &= sum == mt.size * (mt.size - 1) / 2 && mine == 0;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    uint64_t before = 0;
    struct mt_ucp_counts ucp;
    int keyval, rc;

    mt_init();
    if (mt_option(argc, argv, "gpu", NULL)) {
        mt_cuda_open();
        kind = MT_DEVICE;
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL);
    set_handlers();
    allreduce("the first call");
    check_handlers();
    refused_calls();
    if (mt_counts_present()) {
        mt_counts_ucp(&ucp);
        before = ucp.sends;
    }
    allreduce("after a jump out of a call");
    if (mt_counts_present()) {
        mt_counts_ucp(&ucp);
        mt_check(ucp.sends > before, "after a jump the engine is not used");
    }
    have_children();
    allreduce("after children");
    rc = mt_finish();
    return rc ? rc : !late_result;
}
