/* SPDX-License-Identifier: BSD-3-Clause */
/* anykind.c - every kind of memory on every rank, against a host reference.
 *
 * anykind --pairs            two ranks: each pair of kinds over them, each
 *                            function, in place and not, each root, two sizes
 * anykind --random=N [--seed=S] [--case=K]
 *                            N drawn cases: kinds, devices, offsets and layouts
 *                            of each rank, the function, sizes, type, op;
 * --case runs one of them. The seed is printed.
 *
 * On the simulated GPU, with two devices. Every byte of every buffer is
 * compared, guards too, and what the caller sees of CUDA: device and context.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "mt.h"
#include "mtbuf.h"

#define HOLE 0x3c

enum func { ALLREDUCE, BCAST, ALLGATHER, NFUNCS };
enum type { INTS, DOUBLES, LAYOUTS, NTYPES };

/* What the ranks have in common. */
struct call {
    int number;
    enum func func;
    enum type type;
    int n; /* elements of a rank; of LAYOUTS: units of twelve ints */
    int in_place, root, max;
};

/* A buffer of this rank. */
struct side {
    enum mt_kind kind;
    int device;
    size_t shift;
    int layout; /* LAYOUTS only */
};

struct live {
    struct side how;
    struct mt_buf buf;
    size_t low;    /* of the MPI address in it */
    size_t extent; /* bytes in use */
    unsigned char *image;
};

/* Kinds of the pairs: memory and device. */
static const struct side kinds[] = {
    {MT_HOST, 0, 0, 0},    {MT_PINNED, 0, 8, 0}, {MT_REGISTERED, 0, 0, 0},
    {MT_DEVICE, 0, 24, 0}, {MT_DEVICE, 1, 0, 0}, {MT_MANAGED, 0, 0, 0},
    {MT_POOL, 0, 0, 0},    {MT_POOL, 1, 16, 0},  {MT_MAPPED, 0, 0, 0},
    {MT_MAPPED2, 0, 0, 0},
};
#define NKINDS ((int)(sizeof kinds / sizeof kinds[0]))

static int value(const struct call *call, int rank, size_t k)
{
    return (int)((size_t)rank * 31 + k * 7 + (size_t)call->number * 13) % 1009;
}

static size_t elements(const struct call *call)
{
    return (size_t)call->n * (call->type == LAYOUTS ? LAYOUT_INTS : 1);
}

static size_t offset(const struct call *call, const struct live *live, size_t k)
{
    if (call->type == LAYOUTS)
        return (size_t)((ptrdiff_t)live->low +
                        layout_offset(live->how.layout, k));
    return k * (call->type == DOUBLES ? sizeof(double) : sizeof(int));
}

static void put(const struct call *call, struct live *live, size_t k, int v)
{
    double d = v;

    if (call->type == DOUBLES)
        memcpy(live->image + offset(call, live, k), &d, sizeof d);
    else
        memcpy(live->image + offset(call, live, k), &v, sizeof v);
}

/* Buffers of the pairs are made once for each kind and side. */
static struct mt_buf kept[2][MT_NKINDS][2];
static size_t keep; /* their size; 0: each case makes its own */

static void take_buffer(struct live *live, int is_recv)
{
    const struct side *how = &live->how;
    struct mt_buf *old = &kept[is_recv][how->kind][how->device];

    if (keep == 0 || !old->alloc)
        mt_buf_create_on(&live->buf, how->kind, how->device,
                         keep > 0 ? keep : live->extent, how->shift);
    else
        live->buf = *old;
    if (keep > 0)
        *old = live->buf;
}

static void open_side(const struct call *call, const struct side *how,
                      int is_recv, struct live *live)
{
    int blocks = is_recv && call->func == ALLGATHER ? mt.size : 1;
    size_t n = elements(call) * (size_t)blocks;

    memset(live, 0, sizeof *live);
    live->how = *how;
    live->extent = n * (call->type == DOUBLES ? sizeof(double) : sizeof(int));
    if (call->type == LAYOUTS) {
        live->low = layout_reach(how->layout, n / LAYOUT_INTS);
        live->extent = 2 * live->low;
    }
    take_buffer(live, is_recv);
    live->image = mt_alloc(live->extent);
    memset(live->image, HOLE, live->extent);
}

/* Brings the image into the buffer, guards round it. */
static void load_side(struct live *live)
{
    mt_buf_arm(&live->buf, live->extent, -1);
    mt_buf_write(&live->buf, 0, live->image, live->extent);
}

static void check_side(const struct call *call, const struct live *live,
                       const char *what)
{
    long long at = mt_buf_differs(&live->buf, 0, live->image, live->extent);

    mt_check(at < 0,
             "case %d (function %d, type %d, n %d, in place %d, root %d): %s "
             "buffer (kind %d, device %d, layout %d) differs at byte %lld",
             call->number, (int)call->func, (int)call->type, call->n,
             call->in_place, call->root, what, (int)live->how.kind,
             live->how.device, live->how.layout, at);
    mt_check(mt_buf_guarded(&live->buf, live->extent),
             "case %d: guard bytes of the %s buffer are gone", call->number,
             what);
}

static void close_side(struct live *live)
{
    if (keep == 0)
        mt_buf_destroy(&live->buf);
    free(live->image);
}

static int reduced(const struct call *call, size_t k)
{
    int sum = 0, max = -1;

    for (int r = 0; r < mt.size; r++) {
        int v = value(call, r, k);

        sum += v;
        max = v > max ? v : max;
    }
    return call->max ? max : sum;
}

/* Contributions before the call. */
static void prepare(const struct call *call, struct live *send,
                    struct live *recv)
{
    struct live *from = call->in_place || call->func == BCAST ? recv : send;
    size_t n = elements(call), first = 0;

    if (from == recv && call->func == ALLGATHER)
        first = n * (size_t)mt.rank;
    if (call->func == BCAST && mt.rank != call->root)
        return;
    for (size_t k = 0; k < n; k++)
        put(call, from, first + k, value(call, mt.rank, k));
}

/* What the receive buffer must hold after it. */
static void expect(const struct call *call, struct live *recv)
{
    size_t n = elements(call);

    for (size_t k = 0; k < n; k++) {
        if (call->func == ALLREDUCE)
            put(call, recv, k, reduced(call, k));
        else if (call->func == BCAST)
            put(call, recv, k, value(call, call->root, k));
        for (int r = 0; call->func == ALLGATHER && r < mt.size; r++)
            put(call, recv, n * (size_t)r + k, value(call, r, k));
    }
}

static MPI_Datatype type_of(const struct call *call, const struct live *live,
                            int *count)
{
    MPI_Datatype type;

    *count = call->n;
    if (call->type != LAYOUTS)
        return call->type == DOUBLES ? MPI_DOUBLE : MPI_INT;
    layout_make(live->how.layout, &type, count);
    *count *= call->n;
    return type;
}

static void call_mpi(const struct call *call, struct live *send,
                     struct live *recv)
{
    void *to = recv->buf.ptr + recv->low;
    const void *from =
        call->in_place ? MPI_IN_PLACE : send->buf.ptr + send->low;
    int nsend, nrecv;
    MPI_Datatype tsend = type_of(call, send, &nsend);
    MPI_Datatype trecv = type_of(call, recv, &nrecv);

    if (call->func == ALLREDUCE)
        MPI_Allreduce(from, to, nrecv, trecv, call->max ? MPI_MAX : MPI_SUM,
                      MPI_COMM_WORLD);
    else if (call->func == BCAST)
        MPI_Bcast(to, nrecv, trecv, call->root, MPI_COMM_WORLD);
    else
        MPI_Allgather(from, nsend, tsend, to, nrecv, trecv, MPI_COMM_WORLD);
    if (call->type == LAYOUTS) {
        layout_free(&tsend);
        layout_free(&trecv);
    }
}

static void run(const struct call *call, const struct side *send_how,
                const struct side *recv_how)
{
    struct live send, recv;
    void *before, *after;
    int device, now;

    open_side(call, send_how, 0, &send);
    open_side(call, recv_how, 1, &recv);
    prepare(call, &send, &recv);
    load_side(&send);
    load_side(&recv);
    expect(call, &recv);
    mt_cuda_ok(cuda.CtxGetCurrent(&before), "cuCtxGetCurrent");
    mt_cuda_ok(cuda.GetDevice(&device), "cudaGetDevice");
    call_mpi(call, &send, &recv);
    mt_cuda_ok(cuda.CtxGetCurrent(&after), "cuCtxGetCurrent");
    mt_cuda_ok(cuda.GetDevice(&now), "cudaGetDevice");
    mt_check(before == after && device == now,
             "case %d: the current context or device has changed",
             call->number);
    check_side(call, &send, "send");
    check_side(call, &recv, "receive");
    close_side(&send);
    close_side(&recv);
}

static long pairs(void)
{
    static const int sizes[] = {7, 3001};
    long n = 0;

    keep = 2 * sizeof(double) * (size_t)sizes[1];
    for (int pair = 0; pair < NKINDS * NKINDS; pair++) {
        int mine = mt.rank == 0 ? pair / NKINDS : pair % NKINDS;

        for (int variant = 0; variant < 4 * NFUNCS; variant++, n++) {
            struct call call = {.number = (int)n,
                                .func = variant / 4,
                                .type = DOUBLES,
                                .n = sizes[variant % 2],
                                .root = variant / 2 % 2};

            /* Of a broadcast the root varies, of the others in place. */
            call.in_place = call.func != BCAST && call.root;
            run(&call, &kinds[(mine + (int)n) % NKINDS], &kinds[mine]);
        }
    }
    return n;
}

static uint64_t draw(uint64_t seed, uint64_t *state, uint64_t below)
{
    return mt_hash(seed, (*state)++) % below;
}

static struct side draw_side(uint64_t seed, uint64_t *state)
{
    struct side side;

    side.kind = (enum mt_kind)draw(seed, state, MT_NKINDS);
    side.device = (int)draw(seed, state, 2);
    side.shift = 8 * (size_t)draw(seed, state, 40);
    side.layout = (int)draw(seed, state, LAYOUT_N);
    return side;
}

/* One case: the same on all ranks but for the sides and the current device. */
static void run_drawn(uint64_t seed, int number)
{
    uint64_t common = (uint64_t)number << 8, own = common;
    uint64_t mine = seed + 1 + (uint64_t)mt.rank;
    struct call call = {.number = number};
    struct side send, recv;
    static const int most[] = {16, 700, 9000};

    seed = mt_hash(seed, 77);
    call.func = (enum func)draw(seed, &common, NFUNCS);
    call.type = (enum type)draw(seed, &common,
                                call.func == ALLREDUCE ? LAYOUTS : NTYPES);
    call.n =
        1 + (int)draw(seed, &common, (uint64_t)most[draw(seed, &common, 3)]);
    if (call.type == LAYOUTS)
        call.n = 1 + call.n / LAYOUT_INTS;
    call.root = (int)draw(seed, &common, (uint64_t)mt.size);
    call.max = (int)draw(seed, &common, 2);
    call.in_place = call.func != BCAST && draw(seed, &common, 3) == 0;
    send = draw_side(mine, &own);
    recv = draw_side(mine, &own);
    mt_cuda_ok(cuda.SetDevice((int)draw(mine, &own, 2)), "cudaSetDevice");
    if (draw(mine, &own, 4) == 0) /* a thread without a context */
        mt_cuda_ok(cuda.CtxSetCurrent(NULL), "cuCtxSetCurrent");
    run(&call, &send, &recv);
}

int main(int argc, char **argv)
{
    const char *random = mt_option(argc, argv, "random", NULL);
    uint64_t seed = strtoull(mt_option(argc, argv, "seed", "1"), NULL, 0);
    int only = atoi(mt_option(argc, argv, "case", "-1"));
    long n = 0;

    mt_init();
    mt_cuda_open();
    mt_cuda_ok(cuda.SetDevice(0), "cudaSetDevice");
    if (mt_option(argc, argv, "pairs", NULL)) {
        if (mt.size != 2)
            mt_die("--pairs needs two ranks");
        n = pairs();
        mt_check(n == 1200, "%ld cases instead of 1200", n);
    } else if (random) {
        if (mt.rank == 0)
            printf("seed %llu\n", (unsigned long long)seed);
        for (int k = 0; k < atoi(random); k++) {
            if (only >= 0 && k != only)
                continue;
            run_drawn(seed, k);
            n++;
        }
        mt_check(n == (only >= 0 ? 1 : 500), "%ld cases instead of 500", n);
    }
    if (mt.rank == 0)
        printf("%ld cases\n", n);
    return mt_finish();
}
