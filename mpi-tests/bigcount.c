/* SPDX-License-Identifier: BSD-3-Clause */
/* bigcount.c - two ranks, more than 2^31 bytes and more than 2^31 elements.
 *
 * bigcount [--gpu]
 *   --gpu  staged: the receiver of a broadcast has a device buffer
 *
 * Data repeats with a period that shares no large power of two with 2^31 and
 * 2^32, so that a position cut to 32 bits finds other bytes. A buffer that is
 * only read is one period of memory, mapped again and again. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "counts.h"
#include "mt.h"
#include "mtbuf.h"

#define PERIOD ((size_t)(48 << 20) + 4096)
#define OVER (((size_t)1 << 31) + 5)

static unsigned char *block; /* one period; its memory is `fd` */
static int fd;

static void *map(size_t nbytes)
{
    void *at = mmap(NULL, nbytes + PERIOD, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (at == MAP_FAILED)
        mt_die("no address space for %zu bytes", nbytes);
    return at;
}

static void unmap(void *at, size_t nbytes)
{
    munmap(at, nbytes + PERIOD);
}

/* `nbytes` of the block, over and over; to be read only. */
static void *repeated(size_t nbytes)
{
    char *at = map(nbytes);

    for (size_t done = 0; done < nbytes; done += PERIOD)
        if (mmap(at + done, PERIOD, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) ==
            MAP_FAILED)
            mt_die("cannot map the block again");
    return at;
}

static void open_block(void)
{
    fd = memfd_create("block", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)PERIOD))
        mt_die("no memory for the block");
    block = mmap(NULL, PERIOD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (block == MAP_FAILED)
        mt_die("cannot map the block");
}

static void fill_bytes(int rank)
{
    for (size_t i = 0; i < PERIOD; i++)
        block[i] = (unsigned char)(i * 7 + (i >> 8) * 5 + (i >> 16) * 3 +
                                   (size_t)rank * 37);
}

/* Is `at` the block, from position `first` of the data on? */
static int is_block(const unsigned char *at, size_t first, size_t nbytes)
{
    for (size_t done = 0; done < nbytes;) {
        size_t in = (first + done) % PERIOD, n = PERIOD - in;

        n = n < nbytes - done ? n : nbytes - done;
        if (memcmp(at + done, block + in, n))
            return 0;
        done += n;
    }
    return 1;
}

static uint64_t engine_bytes(void)
{
    struct mt_ucp_counts ucp;

    mt_counts_ucp(&ucp);
    return ucp.bytes;
}

/* At the root one period, whose type has no extent, 43 times over; at the other
 * rank that many bytes. */
static void broadcast(void)
{
    enum { TIMES = 43 };
    size_t nbytes = TIMES * PERIOD;
    uint64_t before = engine_bytes();
    MPI_Datatype bare, type;
    unsigned char *buf;

    fill_bytes(0);
    MPI_Type_contiguous((int)PERIOD, MPI_BYTE, &bare);
    MPI_Type_create_resized(bare, 0, 0, &type);
    MPI_Type_commit(&type);
    if (mt.rank == 0) {
        MPI_Bcast(block, TIMES, type, 0, MPI_COMM_WORLD);
        mt_check(engine_bytes() - before >= nbytes,
                 "the engine has not sent the broadcast");
    } else {
        buf = map(nbytes);
        MPI_Bcast_c(buf, (MPI_Count)nbytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        mt_check(is_block(buf, 0, nbytes), "Bcast of %zu bytes is wrong",
                 nbytes);
        mt_check(buf[nbytes] == 0, "Bcast wrote too far");
        unmap(buf, nbytes);
    }
    MPI_Type_free(&bare);
    MPI_Type_free(&type);
}

/* More than 2^31 elements, in place. */
static void sum_of_bytes(void)
{
    unsigned char *buf = map(OVER);
    uint64_t before = engine_bytes();

    fill_bytes(mt.rank);
    for (size_t done = 0; done < OVER; done += PERIOD)
        memcpy(buf + done, block, PERIOD);
    MPI_Allreduce_c(MPI_IN_PLACE, buf, (MPI_Count)OVER, MPI_UINT8_T, MPI_SUM,
                    MPI_COMM_WORLD);
    fill_bytes(0);
    for (size_t i = 0; i < PERIOD; i++)
        block[i] = (unsigned char)(2 * block[i] + 37);
    mt_check(is_block(buf, 0, OVER), "Allreduce_c of %zu elements is wrong",
             OVER);
    mt_check(buf[OVER] != block[OVER % PERIOD], "Allreduce_c wrote too far");
    mt_check(engine_bytes() - before >= OVER / 2,
             "the engine has not sent the sums");
    unmap(buf, OVER);
}

/* Blocks that an int holds, more than 2^31 bytes together. */
static void gather(void)
{
    size_t n = ((size_t)1 << 30) + 3, nbytes = 2 * n;
    unsigned char *send, *recv = map(nbytes);
    uint64_t before = engine_bytes();

    fill_bytes(mt.rank);
    send = repeated(n);
    MPI_Allgather(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE,
                  MPI_COMM_WORLD);
    unmap(send, n);
    for (int r = 0; r < 2; r++) {
        fill_bytes(r);
        mt_check(is_block(recv + (size_t)r * n, 0, n),
                 "Allgather of %zu bytes: block %d is wrong", nbytes, r);
    }
    mt_check(recv[nbytes] == 0, "Allgather wrote too far");
    mt_check(engine_bytes() - before >= n, "the engine has not sent the block");
    unmap(recv, nbytes);
}

/* Between two groups the engine does not serve: a device buffer of any size is
 * staged. */
static void staged_broadcast(void)
{
    struct mt_mpi_counts before, after;
    MPI_Comm inter, mine;
    unsigned char *part = mt_alloc(PERIOD), *root;
    int wrong = 0;
    void *buf;

    MPI_Comm_split(MPI_COMM_WORLD, mt.rank, 0, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, 1 - mt.rank, 0, &inter);
    mt_counts_mpi(&before);
    fill_bytes(0);
    if (mt.rank == 0) {
        root = repeated(OVER);
        MPI_Bcast_c(root, (MPI_Count)OVER, MPI_BYTE, MPI_ROOT, inter);
        unmap(root, OVER);
    } else {
        mt_cuda_ok(cuda.Malloc(&buf, OVER), "cudaMalloc");
        MPI_Bcast_c(buf, (MPI_Count)OVER, MPI_BYTE, 0, inter);
        for (size_t done = 0; done < OVER; done += PERIOD) {
            size_t n = OVER - done < PERIOD ? OVER - done : PERIOD;

            mt_cuda_ok(cuda.Memcpy(part, (char *)buf + done, n, MT_D2H),
                       "cudaMemcpy");
            wrong += !is_block(part, done, n);
        }
        mt_check(!wrong, "staged Bcast_c: %d periods are wrong", wrong);
        cuda.Free(buf);
    }
    mt_counts_mpi(&after);
    mt_check(after.calls[MT_BCAST] == before.calls[MT_BCAST] + 1,
             "the broadcast did not go to MPI");
    MPI_Comm_free(&inter);
    MPI_Comm_free(&mine);
    free(part);
}

int main(int argc, char **argv)
{
    mt_init();
    open_block();
    if (mt_option(argc, argv, "gpu", NULL)) {
        mt_cuda_open();
        staged_broadcast();
    } else {
        broadcast();
        sum_of_bytes();
        gather();
    }
    return mt_finish();
}
