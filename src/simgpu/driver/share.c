/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c - see share.h.
 *
 * The file is a table, a row for each process. Byte 0 is locked around every
 * look at it; each process holds the lock of the byte of its row as long as it
 * lives, so that a row without a lock is of a process that has gone. These are
 * the locks of POSIX that a forked child does not have, and that a process
 * loses if it closes the file elsewhere: it must not open it again. */
#include "share.h"

#include "sim.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS 256

struct row {
    uint64_t taken; /* by a process, which may have gone */
    uint64_t used[SIM_MAX_DEVICES];
};

struct table {
    struct row rows[ROWS];
};

static int fd = -1;
static struct table *table;
static struct row *mine;

static bool lock_byte(off_t byte, short type, int how)
{
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    int rc;
    do {
        rc = fcntl(fd, how, &lock);
    } while (rc != 0 && errno == EINTR);
    return rc == 0 && (how != F_GETLK || lock.l_type == F_UNLCK);
}

static void enter(void)
{
    lock_byte(0, F_WRLCK, F_SETLKW);
}

static void leave(void)
{
    lock_byte(0, F_UNLCK, F_SETLK);
}

/* Clears the rows of processes that have gone. */
static void sweep(void)
{
    for (int i = 0; i < ROWS; i++) {
        struct row *r = &table->rows[i];
        if (r != mine && r->taken != 0 && lock_byte(1 + i, F_WRLCK, F_GETLK))
            memset(r, 0, sizeof(*r));
    }
}

static bool take_row(void)
{
    sweep();
    for (int i = 0; i < ROWS; i++) {
        if (table->rows[i].taken != 0)
            continue;
        if (!lock_byte(1 + i, F_WRLCK, F_SETLK))
            return false;
        mine = &table->rows[i];
        mine->taken = 1;
        return true;
    }
    errno = EUSERS;
    return false;
}

static bool map_table(void)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || ((size_t)st.st_size < sizeof(*table) &&
                                ftruncate(fd, (off_t)sizeof(*table)) != 0))
        return false;
    void *map =
        mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return false;
    table = map;
    return true;
}

bool sim_share_open(const char *path)
{
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    enter();
    bool good = map_table() && take_row();
    leave();
    return good;
}

bool sim_share_on(void)
{
    return mine != NULL;
}

static size_t sum(int phys)
{
    size_t all = 0;
    for (int i = 0; i < ROWS; i++)
        all += table->rows[i].used[phys];
    return all;
}

bool sim_share_take(int phys, size_t size, size_t limit)
{
    enter();
    sweep();
    size_t all = sum(phys);
    bool good = all <= limit && size <= limit - all;
    if (good)
        mine->used[phys] += size;
    leave();
    return good;
}

void sim_share_give(int phys, size_t size)
{
    enter();
    mine->used[phys] -= size;
    leave();
}

size_t sim_share_used(int phys)
{
    enter();
    sweep();
    size_t all = sum(phys);
    leave();
    return all;
}
