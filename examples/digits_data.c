/* SPDX-License-Identifier: BSD-3-Clause */
/* digits_data.c - reading the images; a generator for orders and weights. */
#include "digits_data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_CHARS 1024
#define BRIGHTEST 16

static int parse_line(const char *line, float *pixels, int *label)
{
    const char *at = line;

    for (int i = 0; i <= DIGITS_PIXELS; i++) {
        int last = i == DIGITS_PIXELS;
        char *end;
        long value = strtol(at, &end, 10);

        if (end == at || value < 0 ||
            value > (last ? DIGITS_CLASSES - 1 : BRIGHTEST))
            return -1;
        if (last)
            *label = (int)value;
        else if (*end++ != ',')
            return -1;
        else
            pixels[i] = (float)value / BRIGHTEST;
        at = end;
    }
    return *at == '\n' || *at == '\r' || *at == '\0' ? 0 : -1;
}

static int grow(struct digits_data *data, int room)
{
    size_t n = (size_t)room;
    float *pixels = realloc(data->pixels, n * DIGITS_PIXELS * sizeof *pixels);
    int *labels;

    if (!pixels)
        return -1;
    data->pixels = pixels;
    labels = realloc(data->labels, n * sizeof *labels);
    if (!labels)
        return -1;
    data->labels = labels;
    return 0;
}

int digits_read(const char *path, struct digits_data *out, char *why,
                int why_size)
{
    struct digits_data data = {0};
    char line[LINE_MAX_CHARS];
    int room = 0;
    FILE *file = fopen(path, "r");

    if (!file) {
        snprintf(why, (size_t)why_size, "cannot open %s: %s", path,
                 strerror(errno));
        return -1;
    }
    while (fgets(line, sizeof line, file)) {
        if (data.n == room) {
            room = room ? 2 * room : 2048;
            if (grow(&data, room)) {
                snprintf(why, (size_t)why_size, "out of memory");
                goto err_close;
            }
        }
        if (parse_line(line, data.pixels + (size_t)data.n * DIGITS_PIXELS,
                       &data.labels[data.n])) {
            snprintf(why, (size_t)why_size,
                     "%s, line %d: not 64 pixels of 0..16 and a digit", path,
                     data.n + 1);
            goto err_close;
        }
        data.n++;
    }
    fclose(file);
    *out = data;
    return 0;

err_close:
    fclose(file);
    digits_free(&data);
    return -1;
}

void digits_free(struct digits_data *data)
{
    free(data->pixels);
    free(data->labels);
    memset(data, 0, sizeof *data);
}

/* A 64-bit counter, mixed by two multiplications: equal on every machine. */
uint64_t digits_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void digits_shuffle(int *order, int n, uint64_t *state)
{
    for (int i = n - 1; i > 0; i--) {
        int other = (int)(digits_random(state) % (uint64_t)(i + 1));
        int kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }
}
