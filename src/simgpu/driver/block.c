/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c - runs the threads of a kernel, one after the other.
 *
 * A kernel may use a bad address and must not take the program along. So it
 * runs in a process of its own that shares all memory with this one, as a
 * child of vfork does, but has its own signal handlers: a fault ends that
 * process only. This costs 0.1 to 0.4 ms a launch.
 *
 * The threads of a block are called in a loop on one stack. One that comes to
 * __syncthreads keeps this stack and waits; the loop goes on with the next
 * thread on another. When all have ended or wait, those that wait go on in
 * turn, until none is left. Kernels without barriers never switch. */
#include "block.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* ThreadSanitizer takes any clone for a fork, after which it stops looking, and
 * a handler that does not return for one that goes on in the parent. */
#if defined(__SANITIZE_THREAD__)
int __clone(int (*fn)(void *), void *stack, int flags, void *arg, ...);
int __sigaction(int sig, const struct sigaction *sa, struct sigaction *old);
#define start_process __clone
#define set_handler __sigaction
#else
#define start_process clone
#define set_handler sigaction
#endif

#define STACK_SIZE ((size_t)64 << 10)
#define STACK_GUARD ((size_t)16 << 10)
#define STACK_STEP (STACK_SIZE + STACK_GUARD)

struct run {
    struct simgpu_env env; /* first */
    const struct sim_grid *g;
    struct sim_grid_end *end;
    char *area; /* stacks: of the process, of its handlers, of the fibers */
    ucontext_t scheduler;
    ucontext_t *fibers;
    unsigned *waiting, *resumed; /* fibers at a barrier */
    unsigned nwaiting;
    unsigned current; /* fiber */
    unsigned nfibers; /* in use by this block */
    unsigned nstacks; /* made so far */
    unsigned nthreads;
    unsigned next; /* thread to be started */
};

/* The one of this process. */
static _Thread_local struct run *this_run;

static struct simgpu_dim3 thread_idx(const struct run *r, unsigned t)
{
    unsigned x = r->env.block.x, y = r->env.block.y;
    return (struct simgpu_dim3){t % x, t / x % y, t / x / y};
}

static void barrier(struct simgpu_env *env)
{
    struct run *r = (struct run *)env;
    struct simgpu_dim3 idx = env->thread_idx;
    unsigned me = r->current;
    r->waiting[r->nwaiting++] = me;
    swapcontext(&r->fibers[me], &r->scheduler);
    env->thread_idx = idx;
}

/* Starts threads until one of them waits at a barrier, which is only seen
 * when it comes back: by then all have been started. */
static void fiber_main(void)
{
    struct run *r = this_run;
    while (r->next < r->nthreads) {
        r->env.thread_idx = thread_idx(r, r->next++);
        r->g->kernel->call(r->g->args);
    }
}

static char *stack_of(const struct run *r, unsigned i)
{
    return r->area + (2 + (size_t)i) * STACK_STEP + STACK_GUARD;
}

static void enter(struct run *r, unsigned fiber)
{
    r->current = fiber;
    swapcontext(&r->scheduler, &r->fibers[fiber]);
}

static void start_fiber(struct run *r)
{
    unsigned i = r->nfibers++;
    ucontext_t *c = &r->fibers[i];
    char *stack = stack_of(r, i);
    if (i == r->nstacks) {
        mprotect(stack, STACK_SIZE, PROT_READ | PROT_WRITE);
        r->nstacks++;
    }
    getcontext(c);
    c->uc_stack.ss_sp = stack;
    c->uc_stack.ss_size = STACK_SIZE;
    c->uc_link = &r->scheduler;
    makecontext(c, fiber_main, 0);
    enter(r, i);
}

static void run_block(struct run *r)
{
    r->next = 0;
    r->nfibers = 0;
    r->nwaiting = 0;
    while (r->next < r->nthreads)
        start_fiber(r);
    while (r->nwaiting > 0) {
        unsigned n = r->nwaiting, *list = r->waiting;
        r->waiting = r->resumed;
        r->resumed = list;
        r->nwaiting = 0;
        for (unsigned i = 0; i < n; i++)
            enter(r, list[i]);
    }
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    this_run->end->signal = sig;
    if (sig == SIGSEGV || sig == SIGBUS)
        this_run->end->addr = (uintptr_t)info->si_addr;
    _exit(1);
}

/* Only this process has these handlers. */
static void catch_faults(struct run *r)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    stack_t stack = {.ss_sp = stack_of(r, 0) - STACK_STEP,
                     .ss_size = STACK_SIZE};
    struct sigaction sa = {.sa_sigaction = on_fault,
                           .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigset_t set;
    sigaltstack(&stack, NULL);
    sigfillset(&sa.sa_mask);
    sigfillset(&set);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        set_handler(signals[i], &sa, NULL);
        sigdelset(&set, signals[i]);
    }
    sigprocmask(SIG_SETMASK, &set, NULL);
}

static int process_main(void *arg)
{
    struct run *r = arg;
    struct simgpu_env *env = &r->env;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    this_run = r;
    catch_faults(r);
    r->g->twin->set_env(env);
    for (unsigned z = 0; z < env->grid.z; z++)
        for (unsigned y = 0; y < env->grid.y; y++)
            for (unsigned x = 0; x < env->grid.x; x++) {
                env->block_idx = (struct simgpu_dim3){x, y, z};
                run_block(r);
            }
    r->end->done = true;
    return 0;
}

static void run_process(struct run *r)
{
    int status;
    char *top = r->area + STACK_STEP;
    pid_t pid = start_process(process_main, top, CLONE_VM | CLONE_VFORK, r);
    while (pid > 0 && waitpid(pid, &status, __WCLONE) < 0 && errno == EINTR)
        continue;
    if (pid > 0 && !r->end->done && r->end->signal == 0)
        r->end->signal = SIGKILL;
}

void sim_grid_run(const struct sim_grid *g, struct sim_grid_end *end)
{
    struct run r = {.g = g, .end = end};
    unsigned n = g->block.x * g->block.y * g->block.z;
    size_t size = (2 + (size_t)n) * STACK_STEP;
    memset(end, 0, sizeof(*end));
    r.env.grid = g->grid;
    r.env.block = g->block;
    r.env.barrier = barrier;
    r.env.shared = aligned_alloc(256, (g->shared_size + 256) / 256 * 256);
    r.nthreads = n;
    r.fibers = calloc(n, sizeof(r.fibers[0]));
    r.waiting = calloc(n, sizeof(r.waiting[0]));
    r.resumed = calloc(n, sizeof(r.resumed[0]));
    r.area = mmap(NULL, size, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool good = r.env.shared != NULL && r.fibers != NULL && r.waiting != NULL &&
                r.resumed != NULL && r.area != MAP_FAILED;
    for (size_t i = 0; good && i < 2; i++)
        good = mprotect(r.area + i * STACK_STEP + STACK_GUARD, STACK_SIZE,
                        PROT_READ | PROT_WRITE) == 0;
    if (good)
        run_process(&r);
    if (r.area != MAP_FAILED)
        munmap(r.area, size);
    free(r.resumed);
    free(r.waiting);
    free(r.fibers);
    free(r.env.shared);
}
