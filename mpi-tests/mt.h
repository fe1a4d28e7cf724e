/* SPDX-License-Identifier: BSD-3-Clause */
/* mt.h - what every MPI test program shares: start, checks, end.
 *
 * A test is black box: it knows MPI, the CUDA runtime and the environment, and
 * nothing of Coax. Failures are printed where they happen (the first few of a
 * rank) and counted; mt_finish turns them into the exit status. */
#ifndef MT_H
#define MT_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

struct mt_state {
    int rank, size; /* of MPI_COMM_WORLD */
    long checks, failures;
};
extern struct mt_state mt;

/* MPI_Init (or MPI_Init_thread at `level`), and the fields of `mt`. */
void mt_init(void);
void mt_init_thread(int level);

/* Counts a check; when `ok` is 0 prints the text, once per failure. Returns
 * `ok`. */
int mt_check(int ok, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints a line and ends the whole job at once: for what makes the rest of the
 * test meaningless. */
void mt_die(const char *fmt, ...)
    __attribute__((format(printf, 1, 2), noreturn));

/* Collective. Rank 0 prints the number of checks; MPI_Finalize. Returns the
 * exit status of the program: 0 when no rank failed and every rank checked
 * something. */
int mt_finish(void);

/* "--name=value" or "--name" among the arguments: the value (empty for the
 * bare form), or `dflt` when it is not there. */
const char *mt_option(int argc, char **argv, const char *name,
                      const char *dflt);

/* A reproducible 64-bit number of two indices. */
static inline uint64_t mt_hash(uint64_t a, uint64_t b)
{
    uint64_t z = (a + 1) * 0x9e3779b97f4a7c15u + b * 0xd1342543de82ef95u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* malloc or death. */
void *mt_alloc(size_t nbytes);

/* How many entries a folder has, 0 for one that is not there: of
 * /proc/self/fd, the open descriptors and three; of /proc/self/task, the
 * threads and two. */
int mt_entries(const char *path);

#endif
