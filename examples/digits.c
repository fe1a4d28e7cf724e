/* SPDX-License-Identifier: BSD-3-Clause */
/* digits.c - data-parallel training over a CUDA-aware MPI.
 *
 * Every rank holds the same network, computes gradients on its share of each
 * batch on the host and keeps what it exchanges in device memory: the start
 * weights are broadcast, the gradients are summed in buckets, the scores of
 * the ranks are gathered. At the end all ranks must hold the same weights, bit
 * for bit. With --host the same program runs on host memory. */
#include "digits_data.h"
#include "digits_net.h"

#include <cuda_runtime_api.h>
#include <mpi.h>

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HIDDEN 1024
#define BUCKET (256 * 1024) /* floats: 1 MiB */
#define HELD_OUT 297
#define MOMENTUM 0.9f
#define GOOD_ACCURACY 0.93

enum { SCORE_LOSS, SCORE_RIGHT, SCORE_IMAGES, SCORE_FIELDS };

struct options {
    int epochs, batch, host;
    float rate;
    uint64_t seed;
    const char *data;
};

struct job {
    struct options opt;
    int rank, nranks;
    struct digits_data data;
    struct net net;
    int *order; /* owned: the images, those held out last */
    float *weights, *gradient, *speed; /* owned, host */
    /* What MPI sees, in device memory (with --host: in host memory). */
    float *mpi_weights, *mpi_gradient;
    double *mpi_scores;
    uint64_t *mpi_hashes;
    double mpi_seconds;
    double mpi_mbytes;
};

static const char usage[] =
    "Usage: digits [OPTION]...\n"
    "Trains a small network on images of hand-written digits, data-parallel\n"
    "over the ranks of an MPI job. All that is passed to MPI is GPU memory.\n"
    "\n"
    "  --epochs=N    passes over the training images (default 10)\n"
    "  --batch=N     images in a step, over all ranks (default 128)\n"
    "  --rate=X      learning rate (default 0.05)\n"
    "  --seed=N      start of the random numbers (default 1)\n"
    "  --data=PATH   the images (default: digits.csv of the source tree)\n"
    "  --host        pass host memory to MPI instead of GPU memory\n"
    "  --help        print this text\n"
    "\n"
    "Exit status: 0 when the accuracy on held-out images is at least 0.93 and\n"
    "all ranks end with the same weights, 1 when not, 2 for a wrong option.\n";

static void die(const struct job *job, const char *what, const char *why)
{
    fprintf(stderr, "digits: rank %d: %s: %s\n", job->rank, what, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void check(const struct job *job, cudaError_t error, const char *what)
{
    if (error != cudaSuccess)
        die(job, what, cudaGetErrorString(error));
}

static void *host_new(const struct job *job, size_t nbytes)
{
    void *memory = calloc(1, nbytes);

    if (!memory)
        die(job, "memory", strerror(errno));
    return memory;
}

/* Memory for MPI, and copies between it and the host's arrays. */
static void *mpi_new(const struct job *job, size_t nbytes)
{
    void *memory = NULL;

    if (job->opt.host)
        return host_new(job, nbytes);
    check(job, cudaMalloc(&memory, nbytes), "cudaMalloc");
    return memory;
}

static void mpi_free(const struct job *job, void *memory)
{
    if (job->opt.host)
        free(memory);
    else
        check(job, cudaFree(memory), "cudaFree");
}

static void mpi_put(const struct job *job, void *to, const void *from,
                    size_t nbytes)
{
    if (job->opt.host)
        memcpy(to, from, nbytes);
    else
        check(job, cudaMemcpy(to, from, nbytes, cudaMemcpyHostToDevice),
              "copy to the device");
}

static void mpi_get(const struct job *job, void *to, const void *from,
                    size_t nbytes)
{
    if (job->opt.host)
        memcpy(to, from, nbytes);
    else
        check(job, cudaMemcpy(to, from, nbytes, cudaMemcpyDeviceToHost),
              "copy from the device");
}

static void choose_device(const struct job *job)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    if (error != cudaSuccess || count == 0)
        die(job, "no CUDA device (--host runs without one)",
            cudaGetErrorString(error));
    check(job, cudaSetDevice(job->rank % count), "cudaSetDevice");
}

static void allocate(struct job *job)
{
    size_t nbytes = (size_t)job->net.nparams * sizeof(float);
    size_t nranks = (size_t)job->nranks;

    job->order = host_new(job, (size_t)job->data.n * sizeof *job->order);
    job->weights = host_new(job, nbytes);
    job->gradient = host_new(job, nbytes);
    job->speed = host_new(job, nbytes);
    job->mpi_weights = mpi_new(job, nbytes);
    job->mpi_gradient = mpi_new(job, nbytes);
    job->mpi_scores =
        mpi_new(job, nranks * SCORE_FIELDS * sizeof *job->mpi_scores);
    job->mpi_hashes = mpi_new(job, nranks * sizeof *job->mpi_hashes);
}

static void release(struct job *job)
{
    mpi_free(job, job->mpi_hashes);
    mpi_free(job, job->mpi_scores);
    mpi_free(job, job->mpi_gradient);
    mpi_free(job, job->mpi_weights);
    free(job->speed);
    free(job->gradient);
    free(job->weights);
    free(job->order);
    net_destroy(&job->net);
    digits_free(&job->data);
}

static void broadcast_weights(struct job *job)
{
    size_t nbytes = (size_t)job->net.nparams * sizeof(float);
    double start;

    if (job->rank == 0) {
        net_start(&job->net, job->weights, job->opt.seed);
        mpi_put(job, job->mpi_weights, job->weights, nbytes);
    }
    start = MPI_Wtime();
    MPI_Bcast(job->mpi_weights, job->net.nparams, MPI_FLOAT, 0, MPI_COMM_WORLD);
    job->mpi_seconds += MPI_Wtime() - start;
    job->mpi_mbytes += (double)nbytes / 1e6;
    mpi_get(job, job->weights, job->mpi_weights, nbytes);
}

/* Sums the gradients of all ranks, bucket by bucket. */
static void sum_gradients(struct job *job)
{
    for (int at = 0; at < job->net.nparams; at += BUCKET) {
        int left = job->net.nparams - at;
        int n = left < BUCKET ? left : BUCKET;
        size_t nbytes = (size_t)n * sizeof(float);
        double start;

        mpi_put(job, job->mpi_gradient + at, job->gradient + at, nbytes);
        start = MPI_Wtime();
        MPI_Allreduce(MPI_IN_PLACE, job->mpi_gradient + at, n, MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
        job->mpi_seconds += MPI_Wtime() - start;
        job->mpi_mbytes += (double)nbytes / 1e6;
        mpi_get(job, job->gradient + at, job->mpi_gradient + at, nbytes);
    }
}

/* The sum of all ranks' scores, from the gathered ones. */
static struct net_score gather_scores(struct job *job,
                                      const struct net_score *mine)
{
    struct net_score total = {0};
    size_t row = SCORE_FIELDS * sizeof(double);
    double *all = host_new(job, (size_t)job->nranks * row);
    double own[SCORE_FIELDS];
    double *mpi_own = job->mpi_scores + job->rank * SCORE_FIELDS;

    own[SCORE_LOSS] = mine->loss;
    own[SCORE_RIGHT] = mine->right;
    own[SCORE_IMAGES] = mine->n;
    mpi_put(job, mpi_own, own, row);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, job->mpi_scores,
                  SCORE_FIELDS, MPI_DOUBLE, MPI_COMM_WORLD);
    mpi_get(job, all, job->mpi_scores, (size_t)job->nranks * row);
    for (int r = 0; r < job->nranks; r++) {
        total.loss += all[r * SCORE_FIELDS + SCORE_LOSS];
        total.right += (int)all[r * SCORE_FIELDS + SCORE_RIGHT];
        total.n += (int)all[r * SCORE_FIELDS + SCORE_IMAGES];
    }
    free(all);
    return total;
}

/* This rank's share of `n` images: the first, and how many. */
static int share(const struct job *job, int n, int *count)
{
    int first = (int)((long)n * job->rank / job->nranks);

    *count = (int)((long)n * (job->rank + 1) / job->nranks) - first;
    return first;
}

/* One step on `n` images: gradients, their sum, new weights. */
static void train_batch(struct job *job, const int *which, int n,
                        struct net_score *score)
{
    int count, first = share(job, n, &count);
    float *speed = job->speed, *weights = job->weights;
    float rate = job->opt.rate, part = 1.0f / (float)n;

    net_forward(&job->net, weights, &job->data, which + first, count, score);
    net_backward(&job->net, weights, &job->data, which + first, count,
                 job->gradient);
    sum_gradients(job);
    for (int i = 0; i < job->net.nparams; i++) {
        speed[i] = MOMENTUM * speed[i] + part * job->gradient[i];
        weights[i] -= rate * speed[i];
    }
}

static void train(struct job *job)
{
    int ntrain = job->data.n - HELD_OUT, batch = job->opt.batch;
    uint64_t state = job->opt.seed + 1;

    for (int epoch = 1; epoch <= job->opt.epochs; epoch++) {
        struct net_score mine = {0}, all;
        double start = MPI_Wtime();

        digits_shuffle(job->order, ntrain, &state);
        for (int at = 0; at < ntrain; at += batch) {
            int n = ntrain - at < batch ? ntrain - at : batch;

            train_batch(job, job->order + at, n, &mine);
        }
        all = gather_scores(job, &mine);
        if (job->rank == 0) {
            printf("epoch %d of %d: loss %.4f, accuracy %.4f, %.1f s\n", epoch,
                   job->opt.epochs, all.loss / all.n, (double)all.right / all.n,
                   MPI_Wtime() - start);
            fflush(stdout);
        }
    }
}

static double held_out_accuracy(struct job *job)
{
    const int *which = job->order + job->data.n - HELD_OUT;
    int count, first = share(job, HELD_OUT, &count);
    struct net_score mine = {0}, all;

    for (int at = 0; at < count; at += job->net.max_batch) {
        int left = count - at;
        int n = left < job->net.max_batch ? left : job->net.max_batch;

        net_forward(&job->net, job->weights, &job->data, which + first + at, n,
                    &mine);
    }
    all = gather_scores(job, &mine);
    return (double)all.right / all.n;
}

/* FNV-1a over the bytes of the weights. */
static uint64_t hash_weights(const struct job *job)
{
    const unsigned char *byte = (const unsigned char *)job->weights;
    size_t nbytes = (size_t)job->net.nparams * sizeof(float);
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* Gathers the hashes; rank 0 reports. Returns 1 when all are equal. */
static int compare_hashes(struct job *job)
{
    size_t n = (size_t)job->nranks;
    uint64_t own = hash_weights(job), *all = host_new(job, n * sizeof own);
    int differ = 0;

    mpi_put(job, job->mpi_hashes + job->rank, &own, sizeof own);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, job->mpi_hashes, 1,
                  MPI_UINT64_T, MPI_COMM_WORLD);
    mpi_get(job, all, job->mpi_hashes, n * sizeof own);
    for (int r = 1; r < job->nranks; r++)
        differ += all[r] != all[0];
    if (job->rank == 0 && !differ)
        printf("weights %016llx on all %d ranks\n", (unsigned long long)all[0],
               job->nranks);
    for (int r = 0; job->rank == 0 && differ && r < job->nranks; r++)
        printf("weights %016llx on rank %d%s\n", (unsigned long long)all[r], r,
               all[r] == all[0] ? "" : " (differs from rank 0)");
    free(all);
    return differ == 0;
}

/* A whole number in a range, or a message (on rank 0) and -1. */
static long whole(const char *name, const char *text, long low, long high)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end != text && *end == '\0' && value >= low && value <= high)
        return value;
    if (opterr)
        fprintf(stderr, "digits: --%s takes a number of %ld to %ld, not '%s'\n",
                name, low, high, text);
    return -1;
}

/* Returns 0 to go on, or the exit status plus 1. */
static int parse_options(int argc, char **argv, struct options *opt)
{
    enum { EPOCHS, BATCH, RATE, SEED, DATA, HOST, HELP };
    static const struct option names[] = {
        {"epochs", required_argument, NULL, EPOCHS},
        {"batch", required_argument, NULL, BATCH},
        {"rate", required_argument, NULL, RATE},
        {"seed", required_argument, NULL, SEED},
        {"data", required_argument, NULL, DATA},
        {"host", no_argument, NULL, HOST},
        {"help", no_argument, NULL, HELP},
        {NULL, 0, NULL, 0}};
    int which;
    long seed = 1;

    while ((which = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (which == EPOCHS)
            opt->epochs = (int)whole("epochs", optarg, 1, 1000);
        else if (which == BATCH)
            opt->batch = (int)whole("batch", optarg, 1, 100000);
        else if (which == RATE)
            opt->rate = strtof(optarg, NULL);
        else if (which == SEED)
            seed = whole("seed", optarg, 0, 1000000000);
        else if (which == DATA)
            opt->data = optarg;
        else if (which == HOST)
            opt->host = 1;
        else
            return which == HELP ? 1 : 3;
    }
    opt->seed = (uint64_t)seed;
    if (optind < argc || !(opt->rate > 0.0f)) {
        if (opterr)
            fprintf(stderr, "digits: %s; see digits --help\n",
                    optind < argc ? "only options are taken"
                                  : "--rate takes a number above 0");
        return 3;
    }
    return opt->epochs < 0 || opt->batch < 0 || seed < 0 ? 3 : 0;
}

static void load_data(struct job *job)
{
    const char *path = job->opt.data ? job->opt.data : DIGITS_DATA;
    char why[512];

    if (digits_read(path, &job->data, why, (int)sizeof why))
        die(job, "the images (--data=PATH names them)", why);
    if (job->data.n <= HELD_OUT)
        die(job, path, "too few images");
}

static int run(struct job *job)
{
    uint64_t state = job->opt.seed;
    double accuracy;
    int same, per_rank = job->opt.batch / job->nranks + 1;

    if (!job->opt.host)
        choose_device(job);
    load_data(job);
    if (net_create(&job->net, HIDDEN, per_rank))
        die(job, "memory", strerror(ENOMEM));
    allocate(job);
    for (int i = 0; i < job->data.n; i++)
        job->order[i] = i;
    digits_shuffle(job->order, job->data.n, &state);
    if (job->rank == 0)
        printf("%d parameters, %d images and %d held out, %d ranks, %s "
               "memory\n",
               job->net.nparams, job->data.n - HELD_OUT, HELD_OUT, job->nranks,
               job->opt.host ? "host" : "device");

    broadcast_weights(job);
    train(job);
    accuracy = held_out_accuracy(job);
    if (job->rank == 0)
        printf("accuracy on held-out images %.4f\n", accuracy);
    same = compare_hashes(job);
    if (job->rank == 0)
        printf("%.1f MB broadcast and summed in %.2f s\n", job->mpi_mbytes,
               job->mpi_seconds);
    release(job);
    return same && accuracy >= GOOD_ACCURACY ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct job job = {.opt = {.epochs = 10, .batch = 128, .rate = 0.05f}};
    int status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.nranks);
    opterr = job.rank == 0;
    status = parse_options(argc, argv, &job.opt);
    if (status == 0)
        status = run(&job);
    else if (--status == 0 && job.rank == 0)
        fputs(usage, stdout);
    MPI_Finalize();
    return status;
}
