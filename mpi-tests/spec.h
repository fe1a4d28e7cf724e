/* SPDX-License-Identifier: BSD-3-Clause */
/* spec.h - matrix.txt in memory. */
#ifndef SPEC_H
#define SPEC_H

#include <stddef.h>

#define SPEC_MAX 32

enum spec_pass { SPEC_EXACT, SPEC_WILD, SPEC_SPECIAL, SPEC_NPASSES };
enum spec_memory { SPEC_HOST, SPEC_DEVICE, SPEC_ONE, SPEC_NMEMORIES };

struct spec_typeop {
    int type; /* enum vtype */
    int op;   /* enum vop */
};

struct spec {
    char algorithm[SPEC_MAX][2][24]; /* function, name */
    int nalgorithms;
    size_t elements[SPEC_MAX]; /* for the given number of ranks */
    int nelements;
    struct spec_typeop typeop[SPEC_NPASSES][SPEC_MAX];
    int ntypeops[SPEC_NPASSES];
    int types[SPEC_MAX]; /* the types of pass 1, without operations */
    int ntypes;
    int memory[SPEC_NMEMORIES];
    int nmemories;
    int in_place[2];
    int nplaces;
    struct {
        char func[24];
        int pass;
        long n;
    } cells[SPEC_MAX];
    int ncells;
};

/* Reads the file for jobs of `nranks`; prints what is wrong and returns -1
 * when it is malformed. */
int spec_read(const char *path, int nranks, struct spec *out);

/* The number of cells asked for; -1 when the file does not say. */
long spec_cells(const struct spec *spec, const char *func, int pass);

#endif
