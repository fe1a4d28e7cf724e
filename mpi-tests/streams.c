/* SPDX-License-Identifier: BSD-3-Clause */
/* streams.c - which queued work of the program comes before a call, for each
 * value of COAX_SYNC, on each sort of stream and context.
 *
 * streams --sync=default|device|none
 * streams --capture=blocking|nonblocking|thread   rank 0 captures meanwhile
 *
 * Work that the call must wait for is late, so that a call that does not wait
 * gets old data. Work that it must not wait for stands behind a gate that opens
 * when the call has returned, so that a call that waits hangs. On the simulated
 * GPU, with two devices. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mt.h"
#include "mtbuf.h"
#include "simcount.h"

#define MOST 3000
#define DELAY_US 15000

static struct {
    int (*LaunchHostFunc)(void *, void (*)(void *), void *);
    int (*EnablePeerAccess)(int, unsigned);
    int (*StreamBeginCapture)(void *, int);
    int (*StreamEndCapture)(void *, void **);
    int (*GraphDestroy)(void *);
} fn;

enum where { LEGACY, THREAD, BLOCKING, NONBLOCKING };

/* Work on a stream of a device, in a call made with another device current, on
 * buffers of some kind. */
static const struct {
    const char *name;
    enum where stream;
    int device, current;
    enum mt_kind kind;
    int send_device; /* the receive buffer is on device 0 */
} cases[] = {
    {"legacy stream", LEGACY, 0, 0, MT_DEVICE, 0},
    {"per-thread stream", THREAD, 0, 0, MT_DEVICE, 0},
    {"blocking stream", BLOCKING, 0, 0, MT_DEVICE, 0},
    {"non-blocking stream", NONBLOCKING, 0, 0, MT_DEVICE, 0},
    {"context that is not current", LEGACY, 0, 1, MT_DEVICE, 0},
    {"current context of another device", LEGACY, 1, 1, MT_DEVICE, 0},
    {"buffers on two devices", LEGACY, 1, 0, MT_DEVICE, 1},
    {"managed memory, another device", LEGACY, 1, 0, MT_MANAGED, 0},
    {"pool memory", LEGACY, 0, 0, MT_POOL, 0},
    {"mapped memory of two devices", LEGACY, 0, 0, MT_MAPPED2, 0},
};
#define NCASES ((int)(sizeof cases / sizeof cases[0]))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int gate_open;

static void load(void *member, const char *name)
{
    void *lib = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
    void *symbol;

    if (!lib)
        lib = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
    symbol = lib ? dlsym(lib, name) : NULL;
    if (!symbol)
        mt_die("no CUDA function %s", name);
    *(void **)member = symbol;
}

static void gate(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!gate_open)
        pthread_cond_wait(&opened, &lock);
    pthread_mutex_unlock(&lock);
}

static void set_gate(int open)
{
    pthread_mutex_lock(&lock);
    gate_open = open;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
}

static void set_device(int device)
{
    mt_cuda_ok(cuda.SetDevice(device), "cudaSetDevice");
}

static void *make_stream(enum where where)
{
    void *stream = (void *)(where == THREAD ? (uintptr_t)2 : 0);

    if (where == BLOCKING || where == NONBLOCKING)
        mt_cuda_ok(cuda.StreamCreateWithFlags(&stream, where == NONBLOCKING),
                   "cudaStreamCreateWithFlags");
    return stream;
}

static void fill(struct mt_buf *buf, int n, double base)
{
    double data[MOST];

    for (int i = 0; i < n; i++)
        data[i] = base + i;
    mt_buf_arm(buf, (size_t)n * sizeof(double), 0);
    mt_buf_write(buf, 0, data, (size_t)n * sizeof(double));
}

static void expect(const struct mt_buf *buf, int n, double base, double slope,
                   const char *name, const char *what)
{
    double want[MOST];

    for (int i = 0; i < n; i++)
        want[i] = base + slope * i;
    mt_check(mt_buf_differs(buf, 0, want, (size_t)n * sizeof(double)) < 0,
             "%s, %d elements: %s", name, n, what);
}

struct set {
    struct mt_buf send, recv, fresh, copy;
};

/* Fresh data for the call, and a copy of what it is going to overwrite. */
static void queue(const struct set *s, size_t nbytes, int device, void *stream,
                  int waits)
{
    set_device(device);
    if (!waits)
        mt_cuda_ok(fn.LaunchHostFunc(stream, gate, NULL), "cudaLaunchHostFunc");
    for (int i = 0; i < 2; i++)
        mt_cuda_ok(
            cuda.MemcpyAsync(s->send.ptr, s->fresh.ptr, nbytes, MT_D2D, stream),
            "cudaMemcpyAsync");
    mt_cuda_ok(
        cuda.MemcpyAsync(s->copy.ptr, s->recv.ptr, nbytes, MT_D2D, stream),
        "cudaMemcpyAsync");
}

static void synchronise(void)
{
    for (int device = 0; device < 2; device++) {
        set_device(device);
        mt_cuda_ok(cuda.DeviceSynchronize(), "cudaDeviceSynchronize");
    }
}

static void one(int which, int n, const char *sync)
{
    int send_device = cases[which].send_device;
    double sum = mt.size * (mt.size - 1) / 2;
    size_t nbytes = (size_t)n * sizeof(double);
    const char *name = cases[which].name;
    int waits = !strcmp(sync, "device") || (!strcmp(sync, "default") &&
                                            cases[which].stream != NONBLOCKING);
    struct set s;
    void *stream;

    mt_buf_create_on(&s.send, cases[which].kind, send_device, nbytes, 0);
    mt_buf_create_on(&s.recv, cases[which].kind, 0, nbytes, 8);
    mt_buf_create_on(&s.fresh, MT_DEVICE, cases[which].device, nbytes, 0);
    mt_buf_create_on(&s.copy, MT_DEVICE, cases[which].device, nbytes, 0);
    fill(&s.send, n, -1000.0 - mt.rank);
    fill(&s.recv, n, 4e5);
    fill(&s.fresh, n, mt.rank);
    set_device(cases[which].device);
    stream = make_stream(cases[which].stream);
    set_gate(0);
    if (waits)
        mt_sim_delay(DELAY_US);
    queue(&s, nbytes, cases[which].device, stream, waits);
    set_device(cases[which].current);
    MPI_Allreduce(s.send.ptr, s.recv.ptr, n, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    set_gate(1);
    mt_sim_delay(0);
    synchronise();
    if (waits) {
        expect(&s.recv, n, sum, mt.size, name, "old data were sent");
        expect(&s.copy, n, 4e5, 1, name,
               "the result came before a queued copy");
    } else {
        expect(&s.recv, n, -1000.0 * mt.size - sum, mt.size, name,
               "the call did not take the data as they were");
        expect(&s.copy, n, -1000.0 * mt.size - sum, mt.size, name,
               "the result is not there for a later copy");
    }
    set_device(cases[which].device);
    if (cases[which].stream >= BLOCKING)
        mt_cuda_ok(cuda.StreamDestroy(stream), "cudaStreamDestroy");
    mt_buf_destroy(&s.send);
    mt_buf_destroy(&s.recv);
    mt_buf_destroy(&s.fresh);
    mt_buf_destroy(&s.copy);
    set_device(0);
}

/* --- beside a capture ------------------------------------------------------
 */

struct capture {
    void *stream;
    struct mt_buf *buf;
    int ended; /* what cudaStreamEndCapture said */
    pthread_barrier_t begun, done;
};

/* Global mode: other threads must not do what could disturb it. */
static void *capture(void *arg)
{
    struct capture *c = arg;
    void *graph = NULL;

    set_device(0);
    mt_cuda_ok(fn.StreamBeginCapture(c->stream, 0), "cudaStreamBeginCapture");
    mt_cuda_ok(cuda.MemcpyAsync(c->buf->ptr, c->buf->ptr + 1024, 512, MT_D2D,
                                c->stream),
               "cudaMemcpyAsync");
    pthread_barrier_wait(&c->begun);
    pthread_barrier_wait(&c->done);
    c->ended = fn.StreamEndCapture(c->stream, &graph);
    if (graph)
        fn.GraphDestroy(graph);
    return NULL;
}

/* Both engine and staged size, on fresh and on known contexts. */
static void call_beside(const char *what)
{
    static const int sizes[] = {20, MOST};

    for (int i = 0; i < 2; i++) {
        struct mt_buf buf;
        struct capture c = {.ended = -1};
        pthread_t thread;

        mt_buf_create_on(&buf, MT_DEVICE, 0, MOST * sizeof(double), 0);
        fill(&buf, sizes[i], mt.rank);
        if (mt.rank == 0) {
            c.buf = &buf;
            c.stream = make_stream(!strcmp(what, "blocking") ? BLOCKING
                                   : !strcmp(what, "thread") ? THREAD
                                                             : NONBLOCKING);
            pthread_barrier_init(&c.begun, NULL, 2);
            pthread_barrier_init(&c.done, NULL, 2);
            pthread_create(&thread, NULL, capture, &c);
            pthread_barrier_wait(&c.begun);
        }
        MPI_Allreduce(MPI_IN_PLACE, buf.ptr, sizes[i], MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        MPI_Bcast(buf.ptr, sizes[i], MPI_DOUBLE, 1, MPI_COMM_WORLD);
        if (mt.rank == 0) {
            pthread_barrier_wait(&c.done);
            pthread_join(thread, NULL);
            mt_check(c.ended == 0, "the capture (%s) was broken: error %d",
                     what, c.ended);
        }
        expect(&buf, sizes[i], mt.size * (mt.size - 1) / 2, mt.size, what,
               "the result beside a capture");
        mt_buf_destroy(&buf);
    }
}

int main(int argc, char **argv)
{
    const char *sync = mt_option(argc, argv, "sync", NULL);
    const char *what = mt_option(argc, argv, "capture", NULL);
    struct set warm;

    mt_init();
    mt_cuda_open();
    set_device(0);
    load(&fn.LaunchHostFunc, "cudaLaunchHostFunc");
    load(&fn.EnablePeerAccess, "cudaDeviceEnablePeerAccess");
    load(&fn.StreamBeginCapture, "cudaStreamBeginCapture");
    load(&fn.StreamEndCapture, "cudaStreamEndCapture");
    load(&fn.GraphDestroy, "cudaGraphDestroy");
    if (what) {
        call_beside(what);
        return mt_finish();
    }
    set_device(1);
    mt_cuda_ok(fn.EnablePeerAccess(0, 0), "cudaDeviceEnablePeerAccess");
    set_device(0);
    mt_cuda_ok(fn.EnablePeerAccess(1, 0), "cudaDeviceEnablePeerAccess");
    /* What a first call sets up may wait for the device. */
    for (int n = 20; n <= MOST; n += MOST - 20) {
        for (int device = 0; device < 2; device++) {
            mt_buf_create_on(&warm.send, MT_DEVICE, device,
                             (size_t)n * sizeof(double), 0);
            fill(&warm.send, n, 0);
            MPI_Allreduce(MPI_IN_PLACE, warm.send.ptr, n, MPI_DOUBLE, MPI_SUM,
                          MPI_COMM_WORLD);
            mt_buf_destroy(&warm.send);
        }
    }
    for (int which = 0; which < NCASES; which++) {
        one(which, 20, sync);
        one(which, MOST, sync);
    }
    return mt_finish();
}
