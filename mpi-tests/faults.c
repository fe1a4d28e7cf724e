/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.c - a fault at the n-th call of each driver function, allocation and
 * UCX call that Coax makes: every rank gets the right data or an error, an
 * error of an engine call reaches all ranks in that call or the next, one line
 * says it, nobody hangs, and nothing is left behind.
 *
 * A run of a few collectives on a communicator of its own tells how often each
 * function is called. Then it is repeated with a fault at call 1, 2, 3, 4, and
 * at powers of two up to the last call; each time on a fresh communicator and,
 * with the driver's functions, in a context that was just reset.
 *
 * faults --set=driver|driver-gone|alloc|memory|ucx --victim=RANK (-1: all
 * ranks)
 *        [--name=ONE] [--every]
 * faults --once --victim=RANK: one run, with what the environment makes fail;
 * tells how often that rank called each function */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "faultctl.h"
#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define LARGE (1 << 20)
#define MEDIUM 40000
#define SMALL 100
#define PATIENCE_S 20
#define MAX_NAMES FAULTCTL_MAX

enum what { BCAST, BCAST_VECTOR, ALLREDUCE, ALLGATHER };

/* The calls of a run; `staged` ones are left to MPI at COAX_SMALL=4K. The first
 * is too large for what the network holds without its receiver. */
static const struct step {
    enum what what;
    int n, root, staged;
} steps[] = {
    {BCAST, LARGE, 0, 0},        {ALLREDUCE, MEDIUM, 0, 0},
    {ALLREDUCE, SMALL, 0, 1},    {ALLGATHER, MEDIUM / 4, 0, 0},
    {BCAST_VECTOR, 9000, 1, 0},  {ALLREDUCE, MEDIUM, 0, 0},
    {BCAST_VECTOR, SMALL, 1, 1}, {ALLGATHER, SMALL, 0, 1},
    {BCAST, MEDIUM, 1, 0},
};
enum { NSTEPS = sizeof steps / sizeof *steps };

enum outcome { RIGHT, ERROR, WRONG };

/* What one rank saw in one run. */
struct sight {
    int outcome[NSTEPS];
    int lines;      /* of Coax on stderr */
    int changed;    /* the current context is another one than before */
    char text[300]; /* the first lines */
};

static int victim;
static long harmless; /* faults that no rank got an error by; rank 0 counts */
static char doing[200];
static int log_file = -1; /* what was written to stderr */

/* With what Coax has said so far. */
static void too_late(int sig)
{
    static char text[2000];
    ssize_t n = pread(log_file, text, sizeof text, 0);

    (void)sig;
    if (write(STDOUT_FILENO, doing, strlen(doing)) > 0 && n > 0)
        n = write(STDOUT_FILENO, text, (size_t)n);
    _exit(n < 0 ? 10 : 9);
}

/* --- one run
 * ------------------------------------------------------------------ */

struct run {
    MPI_Comm comm;
    struct mt_buf send, recv;
    int *data;
    int moved;
};

/* Every int that a rank contributes to a step. */
static int value(int rank, int step)
{
    return 1000 * (step + 1) + rank;
}

static enum mt_kind kind_of(int step, int recv)
{
    if (victim < 0 || mt.rank == victim || (mt.rank + step + recv) % 2)
        return MT_DEVICE;
    return MT_HOST;
}

static size_t received(const struct step *s)
{
    size_t n = (size_t)s->n;

    if (s->what == ALLGATHER)
        return n * (size_t)mt.size;
    return s->what == BCAST_VECTOR ? 2 * n : n;
}

static void fill(struct run *run, struct mt_buf *buf, size_t n, int v)
{
    mt_buf_arm(buf, n * sizeof(int), 0);
    for (size_t i = 0; i < n; i++)
        run->data[i] = v;
    mt_buf_write(buf, 0, run->data, n * sizeof(int));
}

static int call(const struct run *run, const struct step *s)
{
    void *send = run->send.ptr, *recv = run->recv.ptr;
    MPI_Datatype type;
    int rc;

    switch (s->what) {
    case BCAST:
        return MPI_Bcast(recv, s->n, MPI_INT, s->root, run->comm);
    case BCAST_VECTOR:
        MPI_Type_vector(s->n, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        rc = MPI_Bcast(recv, 1, type, s->root, run->comm);
        MPI_Type_free(&type);
        return rc;
    case ALLREDUCE:
        return MPI_Allreduce(send, recv, s->n, MPI_INT, MPI_MAX, run->comm);
    default:
        return MPI_Allgather(send, s->n, MPI_INT, recv, s->n, MPI_INT,
                             run->comm);
    }
}

/* The ints of the result, and what lies between them untouched. */
static int is_right(struct run *run, const struct step *s, int step)
{
    size_t n = received(s), wrong = 0;
    int vector = s->what == BCAST_VECTOR, holes = -7;

    mt_buf_read(&run->recv, 0, run->data, n * sizeof(int));
    if (mt.rank == s->root)
        holes = value(mt.rank, step);
    for (size_t i = 0; i < n; i++) {
        int want = value(s->root, step);

        if (s->what == ALLGATHER)
            want = value((int)(i / (size_t)s->n), step);
        else if (s->what == ALLREDUCE)
            want = value(mt.size - 1, step);
        if (vector && i % 2)
            want = holes;
        wrong += run->data[i] != want;
    }
    return wrong == 0 && mt_buf_guarded(&run->recv, n * sizeof(int));
}

static enum outcome take(struct run *run, int step)
{
    const struct step *s = &steps[step];
    size_t n = received(s);
    int source =
        (s->what == BCAST || s->what == BCAST_VECTOR) && mt.rank == s->root;
    enum outcome outcome = RIGHT;
    void *before, *after;

    mt_buf_create(&run->send, kind_of(step, 0), n * sizeof(int), 0);
    mt_buf_create(&run->recv, kind_of(step, 1), n * sizeof(int), 0);
    fill(run, &run->send, (size_t)s->n, value(mt.rank, step));
    fill(run, &run->recv, n, source ? value(mt.rank, step) : -7);
    cuda.CtxGetCurrent(&before);
    if (call(run, s) != MPI_SUCCESS)
        outcome = ERROR;
    else if (!is_right(run, s, step))
        outcome = WRONG;
    cuda.CtxGetCurrent(&after);
    run->moved |= before != after;
    mt_buf_destroy(&run->send);
    mt_buf_destroy(&run->recv);
    return outcome;
}

/* Coax's lines that were written to `fd`. */
static void read_lines(int fd, struct sight *sight)
{
    static char text[1 << 16];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    size_t used = 0;

    text[n > 0 ? n : 0] = '\0';
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        sight->lines += !strncmp(line, "coax: ", 6);
        if (used < sizeof sight->text)
            used +=
                (size_t)snprintf(sight->text + used, sizeof sight->text - used,
                                 "    %s\n", line);
    }
}

/* All steps on a communicator of their own, with stderr in a file. */
static void observe(struct sight *sight, const char *spec)
{
    int log = memfd_create("stderr", MFD_CLOEXEC), old = dup(STDERR_FILENO);
    struct run run = {.moved = 0};

    log_file = log;

    memset(sight, 0, sizeof *sight);
    MPI_Comm_dup(MPI_COMM_WORLD, &run.comm);
    MPI_Comm_set_errhandler(run.comm, MPI_ERRORS_RETURN);
    run.data = mt_alloc(LARGE * sizeof(int));
    dup2(log, STDERR_FILENO);
    faultctl_arm(victim < 0 || mt.rank == victim ? spec : NULL);
    for (int i = 0; i < NSTEPS; i++)
        if (!steps[i].staged || !faultctl_leaves_behind())
            sight->outcome[i] = take(&run, i);
    faultctl_arm(NULL);
    dup2(old, STDERR_FILENO);
    sight->changed = run.moved;
    MPI_Comm_free(&run.comm);
    read_lines(log, sight);
    close(log);
    close(old);
    free(run.data);
}

/* --- the verdict
 * ---------------------------------------------------------------- */

/* The first engine step in which some rank has an error; NSTEPS: none. */
static int first_error(const struct sight *all)
{
    for (int i = 0; i < NSTEPS; i++)
        for (int r = 0; r < mt.size && !steps[i].staged; r++)
            if (all[r].outcome[i] == ERROR)
                return i;
    return NSTEPS;
}

static void show(const struct sight *all)
{
    for (int r = 0; r < mt.size; r++) {
        fprintf(stderr, "mt:   rank %d: ", r);
        for (int i = 0; i < NSTEPS; i++)
            fputc("rEW"[all[r].outcome[i]], stderr);
        fprintf(stderr, ", %d lines\n%s", all[r].lines, all[r].text);
    }
}

/* A rank with an error has one in every later engine step, and so has every
 * rank that needs something of it: in an allreduce or allgather, all. */
static int spread(const struct sight *all, int first)
{
    for (int r = 0; r < mt.size; r++) {
        int failed = 0;

        for (int i = first; i < NSTEPS; i++) {
            int needs_all =
                steps[i].what == ALLREDUCE || steps[i].what == ALLGATHER;

            if (steps[i].staged)
                continue;
            failed |= all[r].outcome[i] == ERROR || (needs_all && i > first);
            if (failed && all[r].outcome[i] != ERROR)
                return 0;
        }
    }
    return 1;
}

static void judge(const struct sight *all, const char *spec)
{
    int first = first_error(all), errors = 0, wrong = 0, lines = 0, moved = 0;
    int limit = victim < 0 ? mt.size : 1, ok;

    for (int r = 0; r < mt.size; r++) {
        for (int i = 0; i < NSTEPS; i++) {
            errors += all[r].outcome[i] == ERROR;
            wrong += all[r].outcome[i] == WRONG;
        }
        lines += all[r].lines;
        moved += all[r].changed;
    }
    harmless += !errors;
    ok = mt_check(!wrong, "%s: %d results are wrong", spec, wrong);
    ok &= mt_check(spread(all, first), "%s: the ranks do not agree", spec);
    ok &= mt_check(!moved, "%s: another context is current", spec);
    ok &= mt_check(lines <= limit && (lines > 0 || !errors),
                   "%s: %d lines of Coax, %d errors", spec, lines, errors);
    if (!ok)
        show(all);
}

static void try_fault(const char *spec)
{
    struct sight mine, *all = mt_alloc((size_t)mt.size * sizeof *all);

    snprintf(doing, sizeof doing, "mt: FAIL no end of rank %d: %s\n", mt.rank,
             spec ? spec : "no fault");
    alarm(PATIENCE_S);
    if (faultctl_resets())
        mt_cuda_ok(cuda.DeviceReset(), "cudaDeviceReset");
    observe(&mine, spec);
    for (int r = 1; r < mt.size; r++) {
        if (mt.rank == 0)
            MPI_Recv(&all[r], sizeof mine, MPI_BYTE, r, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        else if (mt.rank == r)
            MPI_Send(&mine, sizeof mine, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    all[0] = mine;
    if (mt.rank == 0)
        judge(all, spec ? spec : "no fault");
    if (!spec)
        for (int i = 0; i < NSTEPS; i++)
            mt_check(mine.outcome[i] == RIGHT, "step %d without a fault", i);
    alarm(0);
    free(all);
}

/* --- the loop
 * ---------------------------------------------------------------------- */

/* Calls of a clean run by the rank that is to fail, the same on all ranks. */
static unsigned long agreed_calls(const char *name)
{
    unsigned long n = faultctl_calls(name);
    int from = victim < 0 ? 0 : victim;

    for (int r = 0; r < mt.size; r++) {
        if (r == from)
            continue;
        if (mt.rank == from)
            MPI_Send(&n, 1, MPI_UNSIGNED_LONG, r, 1, MPI_COMM_WORLD);
        else if (mt.rank == r)
            MPI_Recv(&n, 1, MPI_UNSIGNED_LONG, from, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    return n;
}

static unsigned long after(unsigned long n, unsigned long last, int every)
{
    if (n < 4 || every)
        return n + 1;
    return n < last && 2 * n > last ? last : 2 * n;
}

static int once(void)
{
    try_fault("a fault at the start");
    mt_check(1, "this rank has come so far");
    if (mt.rank == victim)
        for (int i = 0; faultctl_name(i); i++)
            printf("calls %s %lu\n", faultctl_name(i),
                   faultctl_total(faultctl_name(i)));
    return mt_finish();
}

static long try_all(int every, const char *only)
{
    unsigned long calls[MAX_NAMES] = {0};
    const char *name;
    long tried = 0;
    char spec[100];

    for (int i = 0; (name = faultctl_name(i)); i++)
        calls[i] = agreed_calls(name);
    for (int i = 0; (name = faultctl_name(i)); i++) {
        if (*only && strcmp(only, name))
            continue;
        for (unsigned long n = 1; n <= calls[i];
             n = after(n, calls[i], every)) {
            faultctl_spec(spec, sizeof spec, i, n);
            try_fault(spec);
            tried++;
        }
    }
    return tried;
}

int main(int argc, char **argv)
{
    const char *only = mt_option(argc, argv, "name", "");
    int every = mt_option(argc, argv, "every", NULL) != NULL;
    int files;
    long tried;

    mt_init();
    signal(SIGALRM, too_late);
    mt_cuda_open();
    victim = atoi(mt_option(argc, argv, "victim", "1"));
    faultctl_open(mt_option(argc, argv, "set", "env"));
    if (mt_option(argc, argv, "once", NULL))
        return once();
    for (int i = 0; i < 3; i++)
        try_fault(NULL);
    files = mt_entries("/proc/self/fd");
    harmless = 0;
    tried = try_all(every, only);
    mt_check(tried > 0, "nothing was tried");
    if (mt.rank == 0 && !*only)
        mt_check(faultctl_harmless() ? harmless == tried
                                     : harmless > 0 && harmless < tried,
                 "of %ld faults %ld did no harm", tried, harmless);
    if (mt.rank == 0)
        printf("mt: %ld faults tried, %ld of them did no harm\n", tried,
               harmless);
    try_fault(NULL);
    mt_check(mt_entries("/proc/self/fd") <= files, "%d open files, %d before",
             mt_entries("/proc/self/fd"), files);
    return mt_finish();
}
