/* SPDX-License-Identifier: BSD-3-Clause */
/* digits_net.c - dense layers with plain loops.
 *
 * The inner loops run over contiguous rows, four at a time, so that a compiler
 * vectorises them; rows are taken in blocks that stay in the cache while all
 * images pass. */
#include "digits_net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BLOCK 16
#define LANES 16

static int layer_size(const struct net *net, int layer)
{
    return (net->width[layer] + 1) * net->width[layer + 1];
}

static const float *layer_weights(const struct net *net, const float *weights,
                                  int layer)
{
    for (int i = 0; i < layer; i++)
        weights += layer_size(net, i);
    return weights;
}

int net_create(struct net *net, int hidden, int max_batch)
{
    memset(net, 0, sizeof *net);
    net->width[0] = DIGITS_PIXELS;
    net->width[1] = net->width[2] = hidden;
    net->width[3] = DIGITS_CLASSES;
    net->max_batch = max_batch;
    for (int i = 0; i <= NET_LAYERS; i++) {
        size_t n = (size_t)max_batch * (size_t)net->width[i];

        if (i < NET_LAYERS)
            net->nparams += layer_size(net, i);
        net->activation[i] = calloc(n, sizeof(float));
        net->delta[i] = calloc(n, sizeof(float));
        if (!net->activation[i] || !net->delta[i]) {
            net_destroy(net);
            return -1;
        }
    }
    return 0;
}

void net_destroy(struct net *net)
{
    for (int i = 0; i <= NET_LAYERS; i++) {
        free(net->activation[i]);
        free(net->delta[i]);
    }
    memset(net, 0, sizeof *net);
}

void net_start(const struct net *net, float *weights, uint64_t seed)
{
    for (int layer = 0; layer < NET_LAYERS; layer++) {
        int in = net->width[layer], out = net->width[layer + 1];
        float reach = sqrtf(6.0f / (float)in);

        for (int i = 0; i < in * out; i++) {
            double unit = (double)(digits_random(&seed) >> 11) * 0x1p-53;

            *weights++ = (float)(2.0 * unit - 1.0) * reach;
        }
        for (int i = 0; i < out; i++)
            *weights++ = 0.0f;
    }
}

/* y += sum over the first `nrows` rows of x[i] * row i; `step` is the distance
 * between two of x, `width` that between two rows. */
static void add_rows(float *restrict y, const float *x, int step,
                     const float *restrict rows, int nrows, int width)
{
    int i = 0;

    for (; i + 4 <= nrows; i += 4) {
        const float *w0 = rows + (size_t)i * (size_t)width;
        const float *w1 = w0 + width, *w2 = w1 + width, *w3 = w2 + width;
        float x0 = x[i * step], x1 = x[(i + 1) * step];
        float x2 = x[(i + 2) * step], x3 = x[(i + 3) * step];

        for (int k = 0; k < width; k++)
            y[k] += (x0 * w0[k] + x1 * w1[k]) + (x2 * w2[k] + x3 * w3[k]);
    }
    for (; i < nrows; i++) {
        const float *w = rows + (size_t)i * (size_t)width;
        float xi = x[i * step];

        for (int k = 0; k < width; k++)
            y[k] += xi * w[k];
    }
}

/* Partial sums in lanes, so that the order is fixed and vectorises. */
static float dot(const float *restrict a, const float *restrict b, int n)
{
    float lane[LANES] = {0}, sum = 0.0f;
    int i = 0;

    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++)
            lane[k] += a[i + k] * b[i + k];
    for (; i < n; i++)
        sum += a[i] * b[i];
    for (int k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static void dense_forward(const float *weights, int in, int out, int n,
                          const float *x, float *y)
{
    const float *bias = weights + (size_t)in * (size_t)out;

    for (int b = 0; b < n; b++)
        memcpy(y + b * out, bias, (size_t)out * sizeof *y);
    for (int i = 0; i < in; i += ROW_BLOCK) {
        int nrows = in - i < ROW_BLOCK ? in - i : ROW_BLOCK;

        for (int b = 0; b < n; b++)
            add_rows(y + b * out, x + b * in + i, 1,
                     weights + (size_t)i * (size_t)out, nrows, out);
    }
}

static void dense_backward(const float *weights, int in, int out, int n,
                           const float *x, const float *dy, float *gradient,
                           float *dx)
{
    float *bias = gradient + (size_t)in * (size_t)out;

    memset(gradient, 0, (size_t)(in + 1) * (size_t)out * sizeof *gradient);
    for (int b = 0; b < n; b++)
        for (int k = 0; k < out; k++)
            bias[k] += dy[b * out + k];
    for (int i = 0; i < in; i++) {
        const float *row = weights + (size_t)i * (size_t)out;

        add_rows(gradient + (size_t)i * (size_t)out, x + i, in, dy, n, out);
        for (int b = 0; dx && b < n; b++)
            dx[b * in + i] = dot(row, dy + b * out, out);
    }
}

/* Turns the outputs of one image into probabilities; returns the loss. */
static double softmax(float *y, int label, int *right)
{
    float top = y[0], sum = 0.0f;
    int best = 0;

    for (int k = 1; k < DIGITS_CLASSES; k++) {
        if (y[k] > top) {
            top = y[k];
            best = k;
        }
    }
    for (int k = 0; k < DIGITS_CLASSES; k++)
        sum += y[k] = expf(y[k] - top);
    for (int k = 0; k < DIGITS_CLASSES; k++)
        y[k] /= sum;
    *right += best == label;
    return -log(fmax(y[label], 1e-30));
}

void net_forward(struct net *net, const float *weights,
                 const struct digits_data *data, const int *which, int n,
                 struct net_score *score)
{
    for (int b = 0; b < n; b++)
        memcpy(net->activation[0] + b * DIGITS_PIXELS,
               data->pixels + (size_t)which[b] * DIGITS_PIXELS,
               DIGITS_PIXELS * sizeof(float));
    for (int layer = 0; layer < NET_LAYERS; layer++) {
        int out = net->width[layer + 1];
        float *y = net->activation[layer + 1];

        dense_forward(layer_weights(net, weights, layer), net->width[layer],
                      out, n, net->activation[layer], y);
        for (int i = 0; layer + 1 < NET_LAYERS && i < n * out; i++)
            y[i] = y[i] > 0.0f ? y[i] : 0.0f;
    }
    for (int b = 0; b < n; b++)
        score->loss += softmax(net->activation[NET_LAYERS] + b * DIGITS_CLASSES,
                               data->labels[which[b]], &score->right);
    score->n += n;
}

void net_backward(struct net *net, const float *weights,
                  const struct digits_data *data, const int *which, int n,
                  float *gradient)
{
    float *last = net->delta[NET_LAYERS];

    for (int b = 0; b < n; b++) {
        for (int k = 0; k < DIGITS_CLASSES; k++)
            last[b * DIGITS_CLASSES + k] =
                net->activation[NET_LAYERS][b * DIGITS_CLASSES + k];
        last[b * DIGITS_CLASSES + data->labels[which[b]]] -= 1.0f;
    }
    gradient += net->nparams;
    for (int layer = NET_LAYERS - 1; layer >= 0; layer--) {
        int in = net->width[layer];
        const float *x = net->activation[layer];
        float *dx = layer ? net->delta[layer] : NULL;

        gradient -= layer_size(net, layer);
        dense_backward(layer_weights(net, weights, layer), in,
                       net->width[layer + 1], n, x, net->delta[layer + 1],
                       gradient, dx);
        for (int i = 0; dx && i < n * in; i++)
            dx[i] = x[i] > 0.0f ? dx[i] : 0.0f;
    }
}
