/* SPDX-License-Identifier: BSD-3-Clause */
/* children.c - an engaged job that has children in all ways: they inherit the
 * preload, are inert, and the parent goes on as before.
 *
 * children [--gpu] */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"

#define N 4000

extern char **environ;

static enum mt_kind kind = MT_HOST;
static struct mt_buf buf;

static void allreduce(const char *when)
{
    double data[N], want[N];
    struct mt_ucp_counts before = {0}, after = {0};

    for (int i = 0; i < N; i++) {
        data[i] = mt.rank + i;
        want[i] = mt.size * (mt.size - 1) / 2 + (double)mt.size * i;
    }
    if (mt_counts_present())
        mt_counts_ucp(&before);
    mt_buf_write(&buf, 0, data, sizeof data);
    MPI_Allreduce(MPI_IN_PLACE, buf.ptr, N, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    mt_check(mt_buf_differs(&buf, 0, want, sizeof want) < 0,
             "%s: the result is wrong", when);
    if (!mt_counts_present())
        return;
    mt_counts_ucp(&after);
    mt_check(after.sends > before.sends, "%s: not by the engine", when);
}

static void ends_with(pid_t pid, int code, const char *what)
{
    int status = -1;

    waitpid(pid, &status, 0);
    mt_check(WIFEXITED(status) && WEXITSTATUS(status) == code,
             "%s: status %#x, not %d", what, (unsigned)status, code);
}

/* By mistake, in a forked child: to MPI, untouched. */
static int child_calls_mpi(void)
{
    double x[N] = {1}, sum[N] = {0};
    struct mt_mpi_counts before, after;

    if (mt_counts_present())
        mt_counts_mpi(&before);
    MPI_Allreduce(x, sum, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    if (sum[0] != 1)
        return 1;
    if (!mt_counts_present())
        return 9;
    mt_counts_mpi(&after);
    return after.calls[MT_ALLREDUCE] == before.calls[MT_ALLREDUCE] + 1 ? 9 : 2;
}

static void forks(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(7);
    allreduce("beside a forked child");
    ends_with(pid, 7, "fork");
    pid = fork();
    if (pid == 0)
        _exit(child_calls_mpi());
    ends_with(pid, 9, "a child that calls MPI");
    fflush(NULL);
    pid = fork();
    if (pid == 0) /* with exit handlers and destructors */
        exit(3);
    ends_with(pid, 3, "a child that calls exit");
    pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 4", (char *)NULL);
        _exit(1);
    }
    ends_with(pid, 4, "vfork and exec");
}

static void commands(void)
{
    char *argv[] = {"sh", "-c", "exit 6", NULL}, line[256] = "";
    int status = system("exit 5");
    FILE *pipe;
    pid_t pid;

    mt_check(WIFEXITED(status) && WEXITSTATUS(status) == 5,
             "system: status %#x", (unsigned)status);
    /* The preload is inherited; the engine is not. */
    pipe = popen("exec 2>&1; grep -c 'r-xp.*/libcoax' /proc/self/maps", "r");
    if (!pipe || !fgets(line, sizeof line, pipe))
        line[0] = '\0';
    mt_check(!strcmp(line, getenv("LD_PRELOAD") &&
                                   strstr(getenv("LD_PRELOAD"), "libcoax")
                               ? "1\n"
                               : "0\n"),
             "popen: '%s' is what the child says", line);
    if (pipe)
        pclose(pipe);
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) == 0)
        ends_with(pid, 6, "posix_spawn");
    else
        mt_check(0, "posix_spawn fails");
}

int main(int argc, char **argv)
{
    mt_init();
    if (mt_option(argc, argv, "gpu", NULL))
        kind = MT_DEVICE;
    mt_buf_create(&buf, kind, N * sizeof(double), 0);
    allreduce("the first call");
    forks();
    allreduce("after forked children");
    commands();
    allreduce("after commands");
    mt_buf_destroy(&buf);
    return mt_finish();
}
