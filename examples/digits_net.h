/* SPDX-License-Identifier: BSD-3-Clause */
/* digits_net.h - a network of three dense layers, computed on the host.
 *
 * All weights lie in one array, layer by layer: inputs x outputs, then the
 * biases. Gradients have the same layout, so both can be sent in buckets. */
#ifndef DIGITS_NET_H
#define DIGITS_NET_H

#include <stdint.h>

#include "digits_data.h"

#define NET_LAYERS 3

struct net {
    int width[NET_LAYERS + 1]; /* inputs, hidden, hidden, classes */
    int nparams;
    int max_batch;
    float *activation[NET_LAYERS + 1]; /* owned: max_batch rows each */
    float *delta[NET_LAYERS + 1];      /* owned: d loss / d activation */
};

/* What a batch said about the weights. */
struct net_score {
    double loss; /* summed over the images */
    int right, n;
};

/* Returns 0, or -1 when memory is short. */
int net_create(struct net *net, int hidden, int max_batch);
void net_destroy(struct net *net);

/* Random start weights. */
void net_start(const struct net *net, float *weights, uint64_t seed);

/* Runs the images data[which[0..n-1]], n <= max_batch, and adds to `score`. */
void net_forward(struct net *net, const float *weights,
                 const struct digits_data *data, const int *which, int n,
                 struct net_score *score);

/* After net_forward of the same images: writes all of `gradient`, summed over
 * the images (zeros when n is 0). */
void net_backward(struct net *net, const float *weights,
                  const struct digits_data *data, const int *which, int n,
                  float *gradient);

#endif
