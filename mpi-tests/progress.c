/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c - waiting ranks drive MPI, and nobody who has left is needed.
 *
 * progress [--gpu]
 *
 * enter: a rank has a pending MPI_Isend when it enters the collective, and its
 * receiver enters only after the MPI_Recv. An engine that waits without calling
 * MPI never sends the rest of a large message.
 * leave: a rank that has returned blocks in read(2), outside MPI, until another
 * rank has returned too. An engine that needs its progress after the return
 * never lets the other one out. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "mt.h"
#include "mtbuf.h"

#define PATIENCE_MS 20000
#define NFUNCS 3

static const char *const func_name[NFUNCS] = {"allreduce", "bcast",
                                              "allgather"};
static const size_t sizes[] = {8, 64 << 10, 8 << 20};
static int pipe_of[16]; /* a named pipe into each rank */
static struct mt_buf send_buf, recv_buf;
static unsigned char *message;

static void open_pipes(void)
{
    const char *dir = getenv("MT_SCRATCH");
    char path[512];

    if (!dir || mt.size > 16)
        mt_die("MT_SCRATCH is not set, or too many ranks");
    snprintf(path, sizeof path, "%s/pipe.%d", dir, mt.rank);
    if (mkfifo(path, 0600))
        mt_die("mkfifo %s: %s", path, strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < mt.size; r++) {
        snprintf(path, sizeof path, "%s/pipe.%d", dir, r);
        pipe_of[r] = open(path, O_RDWR);
        if (pipe_of[r] < 0)
            mt_die("open %s: %s", path, strerror(errno));
    }
}

static void collective(int func, size_t nbytes, int root)
{
    int n = (int)(nbytes / 8), rc;
    int block = n / mt.size ? n / mt.size : 1;

    if (func == 0)
        rc = MPI_Allreduce(send_buf.ptr, recv_buf.ptr, n, MPI_DOUBLE, MPI_SUM,
                           MPI_COMM_WORLD);
    else if (func == 1)
        rc = MPI_Bcast(send_buf.ptr, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
    else
        rc = MPI_Allgather(send_buf.ptr, block, MPI_DOUBLE, recv_buf.ptr, block,
                           MPI_DOUBLE, MPI_COMM_WORLD);
    mt_check(rc == MPI_SUCCESS, "%s returned %d", func_name[func], rc);
}

/* `from` sends to `to`, the collective comes in between. A hang is ended by
 * the script's timeout. */
static void enter_case(int func, size_t nbytes, int from, int to)
{
    MPI_Request req = MPI_REQUEST_NULL;

    if (mt.rank == from)
        MPI_Isend(message, (int)nbytes, MPI_BYTE, to, 7, MPI_COMM_WORLD, &req);
    if (mt.rank == to)
        MPI_Recv(message, (int)nbytes, MPI_BYTE, from, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    collective(func, nbytes, to);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    mt_check(1, "no hang");
}

/* Blocks outside MPI until `count` bytes have come through this rank's pipe. */
static int read_tokens(int count)
{
    while (count > 0) {
        struct pollfd fd = {.fd = pipe_of[mt.rank], .events = POLLIN};
        char bytes[16];
        ssize_t n;

        if (poll(&fd, 1, PATIENCE_MS) != 1)
            return -1;
        n = read(fd.fd, bytes, (size_t)count);
        count -= n > 0 ? (int)n : 0;
    }
    return 0;
}

/* The ranks of the bit mask `waiting` block after their return until `last` has
 * returned. `late`: `last` comes late into the call. */
static void leave_case(int func, size_t nbytes, int root, unsigned waiting,
                       int last, int late)
{
    const struct timespec pause = {.tv_nsec = 2000000};

    MPI_Barrier(MPI_COMM_WORLD);
    if (late && mt.rank == last)
        nanosleep(&pause, NULL); /* only disturbs: the test holds without */
    collective(func, nbytes, root);
    if (mt.rank == last) {
        for (int r = 0; r < mt.size; r++)
            if (waiting & 1u << r && write(pipe_of[r], "x", 1) != 1)
                mt_die("write to the pipe of rank %d failed", r);
    } else if (waiting & 1u << mt.rank && read_tokens(1)) {
        mt_die("%s of %zu bytes, root %d: this rank has returned and waits in "
               "read(2), rank %d does not return",
               func_name[func], nbytes, root, last);
    }
    mt_check(1, "no hang");
}

static void all_cases(int func, size_t nbytes)
{
    unsigned everyone = (1u << mt.size) - 1;

    for (int a = 0; a < mt.size; a++)
        for (int b = 0; b < mt.size; b++) {
            if (a == b)
                continue;
            enter_case(func, nbytes, a, b);
            leave_case(func, nbytes, a, 1u << a, b, 0);
            leave_case(func, nbytes, b, 1u << a, b, 1);
        }
    for (int b = 0; b < mt.size; b++)
        for (int root = 0; root < (func == 1 ? mt.size : 1); root++)
            leave_case(func, nbytes, root, everyone & ~(1u << b), b, b & 1);
}

int main(int argc, char **argv)
{
    int gpu = mt_option(argc, argv, "gpu", NULL) != NULL;
    size_t most = sizes[2];

    mt_init();
    open_pipes();
    message = mt_alloc(most);
    memset(message, 0, most);
    mt_buf_create(&send_buf, gpu ? MT_DEVICE : MT_HOST, most, 0);
    mt_buf_create(&recv_buf, gpu ? MT_DEVICE : MT_HOST, most + 256, 0);
    mt_buf_arm(&send_buf, most, 0);
    for (int func = 0; func < NFUNCS; func++)
        for (int i = 0; i < 3; i++)
            all_cases(func, sizes[i]);
    mt_buf_destroy(&send_buf);
    mt_buf_destroy(&recv_buf);
    return mt_finish();
}
