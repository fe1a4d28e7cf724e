/* SPDX-License-Identifier: BSD-3-Clause */
/* hoststate.c - see hoststate.h. */
#include "hoststate.h"

#include <dirent.h>
#include <fenv.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "mt.h"
#include "mtbuf.h"

#define NSIGNALS 65
#define MAX_THREADS 256
#define FLUSH_TO_ZERO 0x8000
#define DENORMALS_ARE_ZERO 0x40

extern char **environ;

struct state {
    struct sigaction action[NSIGNALS];
    sigset_t mask;
    stack_t stack;
    int timer_set[3];
    char **environment;
    uint64_t variables;
    char locale[256], folder[4096], name[16];
    int rounding, traps;
    mode_t files;
    struct rlimit limit[RLIM_NLIMITS];
    cpu_set_t cpus;
    int nice, dumpable, death, scheduler;
    size_t pending, buffered;
    int device;
    void *context;
};

static struct state kept;
static int ngpus, started;
static int known[MAX_THREADS], nknown;
static char stack_memory[1 << 16];

static void handler(int number)
{
    (void)number;
}

static uint64_t hash_environment(void)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (char **at = environ; *at; at++) {
        for (const char *c = *at; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
        hash = mt_hash(hash, 1);
    }
    return hash;
}

static void note_process(struct state *s)
{
    struct itimerval timer;

    for (int i = 0; i < 3; i++) {
        getitimer(i, &timer);
        s->timer_set[i] = timer.it_value.tv_sec + timer.it_value.tv_usec > 0;
    }
    s->environment = environ;
    s->variables = hash_environment();
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    if (!getcwd(s->folder, sizeof s->folder))
        s->folder[0] = '\0';
    prctl(PR_GET_NAME, s->name);
    prctl(PR_GET_PDEATHSIG, &s->death);
    s->dumpable = prctl(PR_GET_DUMPABLE);
    s->files = umask(0);
    umask(s->files);
    for (int i = 0; i < RLIM_NLIMITS; i++)
        getrlimit((__rlimit_resource_t)i, &s->limit[i]);
    sched_getaffinity(0, sizeof s->cpus, &s->cpus);
    s->nice = getpriority(PRIO_PROCESS, 0);
    s->scheduler = sched_getscheduler(0);
}

static void note(struct state *s)
{
    memset(s, 0, sizeof *s);
    for (int i = 1; i < NSIGNALS; i++)
        sigaction(i, NULL, &s->action[i]);
    sigprocmask(SIG_SETMASK, NULL, &s->mask);
    sigaltstack(NULL, &s->stack);
    note_process(s);
    s->rounding = fegetround();
    s->traps = fegetexcept();
    s->pending = __fpending(stdout);
    s->buffered = __fbufsize(stdout);
    if (ngpus > 0) {
        cuda.GetDevice(&s->device);
        cuda.CtxGetCurrent(&s->context);
    }
}

static int known_thread(int id)
{
    for (int i = 0; i < nknown; i++) {
        if (known[i] == id)
            return 1;
    }
    return 0;
}

/* A thread that came later must leave the program's signals to the program:
 * -1 when each of them blocks SIGUSR1, else the id of one that does not. */
static int deaf_threads(int remember)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry;
    int culprit = -1;

    while (dir && (entry = readdir(dir))) {
        char path[300], line[256];
        unsigned long long blocked = 0;
        unsigned alive = 0;
        int id = atoi(entry->d_name);
        FILE *file;

        if (id == 0 || known_thread(id))
            continue;
        if (remember && nknown < MAX_THREADS)
            known[nknown++] = id;
        snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
        file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "Threads: %u", &alive) == 0)
                sscanf(line, "SigBlk: %llx", &blocked);
        if (file)
            fclose(file);
        /* Of a thread that is ending, both are shown as 0. */
        if (file && alive && !(blocked >> (SIGUSR1 - 1) & 1))
            culprit = id;
    }
    if (dir)
        closedir(dir);
    return remember ? -1 : culprit;
}

static void take_signals(void)
{
    struct sigaction act = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
    sigset_t mask;

    sigaltstack(&stack, NULL);
    sigaddset(&act.sa_mask, SIGUSR2);
    for (int i = 1; i < NSIGNALS; i++) {
        if (i != SIGKILL && i != SIGSTOP && i != 32 && i != 33)
            sigaction(i, &act, NULL);
    }
    sigemptyset(&mask);
    sigaddset(&mask, SIGWINCH);
    sigprocmask(SIG_BLOCK, &mask, NULL);
}

void hs_begin(int gpus)
{
    struct itimerval timer = {.it_value.tv_sec = 1000};
    struct rlimit files;
    const char *dir = getenv("MT_SCRATCH");

    /* A library linked with -ffast-math would have changed it when loaded. */
    mt_check((_mm_getcsr() & (FLUSH_TO_ZERO | DENORMALS_ARE_ZERO)) == 0,
             "denormal numbers are flushed to zero");
    ngpus = gpus;
    take_signals();
    setitimer(ITIMER_REAL, &timer, NULL);
    setlocale(LC_ALL, "C.UTF-8");
    setenv("MT_ADDED", "later", 1);
    fesetround(FE_UPWARD);
    umask(027);
    if (chdir(dir ? dir : "/"))
        mt_die("cannot change the folder");
    prctl(PR_SET_NAME, "mt-state");
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_cur > 1000 ? files.rlim_cur - 1 : 1000;
    setrlimit(RLIMIT_NOFILE, &files);
    printf("kept in the buffer of stdout: ");
    deaf_threads(1);
    note(&kept);
    started = 1;
}

void hs_flushed(void)
{
    kept.pending = 0;
}

void hs_set_device(int device)
{
    mt_cuda_ok(cuda.SetDevice(device), "cudaSetDevice");
    cuda.GetDevice(&kept.device);
    cuda.CtxGetCurrent(&kept.context);
}

static void same(int ok, const char *when, const char *what)
{
    mt_check(ok, "%s: %s changed", when, what);
}

static void check_signals(const struct state *now, const char *when)
{
    for (int i = 1; i < NSIGNALS; i++) {
        const struct sigaction *a = &kept.action[i], *b = &now->action[i];

        mt_check(a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags &&
                     !memcmp(&a->sa_mask, &b->sa_mask, 8),
                 "%s: the handler of signal %d changed", when, i);
    }
    same(!memcmp(&kept.mask, &now->mask, 8), when, "the signal mask");
    same(kept.stack.ss_sp == now->stack.ss_sp &&
             kept.stack.ss_flags == now->stack.ss_flags,
         when, "the signal stack");
    mt_check(deaf_threads(0) < 0,
             "%s: a new thread takes the program's "
             "signals",
             when);
}

void hs_check(const char *when)
{
    struct state now;

    if (!started)
        return;
    note(&now);
    check_signals(&now, when);
    same(!memcmp(kept.timer_set, now.timer_set, sizeof kept.timer_set), when,
         "a timer");
    same(kept.environment == now.environment && kept.variables == now.variables,
         when, "the environment");
    same(!strcmp(kept.locale, now.locale), when, "the locale");
    same(!strcmp(kept.folder, now.folder), when, "the folder");
    same(!memcmp(kept.name, now.name, sizeof kept.name), when, "the name");
    same(kept.rounding == now.rounding, when, "the rounding mode");
    same(kept.traps == now.traps, when, "a floating point trap");
    same(kept.files == now.files, when, "umask");
    same(!memcmp(kept.limit, now.limit, sizeof kept.limit), when, "a limit");
    same(!memcmp(&kept.cpus, &now.cpus, sizeof kept.cpus) &&
             kept.nice == now.nice && kept.scheduler == now.scheduler,
         when, "the scheduling");
    same(kept.dumpable == now.dumpable && kept.death == now.death, when,
         "a process flag");
    same(kept.pending == now.pending && kept.buffered == now.buffered, when,
         "stdout");
    same(kept.device == now.device && kept.context == now.context, when,
         "the current GPU");
}
