/* SPDX-License-Identifier: BSD-3-Clause */
/* spec.c - reads matrix.txt; strict: an unknown word is an error. */
#include "spec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

#define MAX_WORDS 16

static const char *const pass_name[SPEC_NPASSES] = {"exact", "wild", "special"};
static const char *const memory_name[SPEC_NMEMORIES] = {"host", "device",
                                                        "one"};

static int word_index(const char *const *names, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], word))
            return i;
    return -1;
}

static int read_elements(struct spec *spec, char **word, int n, int nranks)
{
    for (int i = 1; i < n; i++) {
        char *rest = word[i];
        long value = 0;

        if (*rest == 'p') {
            value = nranks;
            rest++;
        }
        if (*rest)
            value += strtol(rest, &rest, 10);
        if (*rest || value < 0 || spec->nelements == SPEC_MAX)
            return -1;
        spec->elements[spec->nelements++] = (size_t)value;
    }
    return 0;
}

static int read_typeops(struct spec *spec, char **word, int n, int pass)
{
    int type = n > 2 ? v_type_find(word[1]) : -1;

    if (type < 0 || spec->ntypes == SPEC_MAX)
        return -1;
    if (pass == SPEC_EXACT)
        spec->types[spec->ntypes++] = type;
    for (int i = 2; i < n; i++) {
        int op = v_op_find(word[i]);

        if (op < 0 || spec->ntypeops[pass] == SPEC_MAX)
            return -1;
        spec->typeop[pass][spec->ntypeops[pass]++] =
            (struct spec_typeop){.type = type, .op = op};
    }
    return 0;
}

static int read_memory(struct spec *spec, char **word, int n)
{
    for (int i = 1; i < n; i++) {
        int kind = word_index(memory_name, SPEC_NMEMORIES, word[i]);

        if (kind < 0 || spec->nmemories == SPEC_NMEMORIES)
            return -1;
        spec->memory[spec->nmemories++] = kind;
    }
    return 0;
}

static int read_places(struct spec *spec, char **word, int n)
{
    static const char *const names[] = {"out", "in"};

    for (int i = 1; i < n; i++) {
        int place = word_index(names, 2, word[i]);

        if (place < 0 || spec->nplaces == 2)
            return -1;
        spec->in_place[spec->nplaces++] = place;
    }
    return 0;
}

static int read_cells(struct spec *spec, char **word, int n)
{
    int pass = n == 4 ? word_index(pass_name, SPEC_NPASSES, word[2]) : -1;

    if (pass < 0 || spec->ncells == SPEC_MAX)
        return -1;
    snprintf(spec->cells[spec->ncells].func, 24, "%s", word[1]);
    spec->cells[spec->ncells].pass = pass;
    spec->cells[spec->ncells++].n = atol(word[3]);
    return 0;
}

static int read_algorithm(struct spec *spec, char **word, int n)
{
    if (n != 3 || spec->nalgorithms == SPEC_MAX)
        return -1;
    snprintf(spec->algorithm[spec->nalgorithms][0], 24, "%s", word[1]);
    snprintf(spec->algorithm[spec->nalgorithms++][1], 24, "%s", word[2]);
    return 0;
}

static int read_row(struct spec *spec, char **word, int n, int nranks)
{
    if (!strcmp(word[0], "algorithm"))
        return read_algorithm(spec, word, n);
    if (!strcmp(word[0], "ranks"))
        return 0; /* CMakeLists.txt launches one job for each */
    if (!strcmp(word[0], "elements"))
        return read_elements(spec, word, n, nranks);
    if (!strcmp(word[0], "type"))
        return read_typeops(spec, word, n, SPEC_EXACT);
    if (!strcmp(word[0], "wild"))
        return read_typeops(spec, word, n, SPEC_WILD);
    if (!strcmp(word[0], "special"))
        return read_typeops(spec, word, n, SPEC_SPECIAL);
    if (!strcmp(word[0], "memory"))
        return read_memory(spec, word, n);
    if (!strcmp(word[0], "place"))
        return read_places(spec, word, n);
    if (!strcmp(word[0], "cells"))
        return read_cells(spec, word, n);
    return -1;
}

int spec_read(const char *path, int nranks, struct spec *out)
{
    FILE *file = fopen(path, "r");
    char line[256], *word[MAX_WORDS];
    int row = 0, rc = file ? 0 : -1;

    memset(out, 0, sizeof *out);
    while (!rc && fgets(line, sizeof line, file)) {
        int n = 0;

        row++;
        line[strcspn(line, "#\n")] = '\0';
        for (char *w = strtok(line, " "); w && n < MAX_WORDS;
             w = strtok(NULL, " "))
            word[n++] = w;
        if (n)
            rc = read_row(out, word, n, nranks);
    }
    if (rc)
        fprintf(stderr, "mt: %s:%d cannot be read\n", path, row);
    if (file)
        fclose(file);
    return rc;
}

long spec_cells(const struct spec *spec, const char *func, int pass)
{
    for (int i = 0; i < spec->ncells; i++)
        if (!strcmp(spec->cells[i].func, func) && spec->cells[i].pass == pass)
            return spec->cells[i].n;
    return -1;
}
