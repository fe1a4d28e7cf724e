/* SPDX-License-Identifier: BSD-3-Clause */
/* digits_data.h - the digit images, read from text and dealt out. */
#ifndef DIGITS_DATA_H
#define DIGITS_DATA_H

#include <stdint.h>

#define DIGITS_PIXELS 64
#define DIGITS_CLASSES 10

struct digits_data {
    int n;         /* images */
    float *pixels; /* n * DIGITS_PIXELS, scaled to 0..1 */
    int *labels;
};

/* Reads a text file with 65 numbers a line. Returns 0, or -1 after writing one
 * sentence about the cause to `why`. */
int digits_read(const char *path, struct digits_data *out, char *why,
                int why_size);
void digits_free(struct digits_data *data);

/* A small generator, the same on every machine. */
uint64_t digits_random(uint64_t *state);
/* Puts order[0..n-1] into a random order. */
void digits_shuffle(int *order, int n, uint64_t *state);

#endif
