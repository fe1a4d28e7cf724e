/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix_cover.c - matrix.txt and the registry of src/coll name the same
 * algorithms. No MPI: links the registry itself. */
#include <stdio.h>
#include <string.h>

#include "coll/coll.h"
#include "spec.h"

static int listed(const struct spec *spec, const char *func, const char *name)
{
    for (int i = 0; i < spec->nalgorithms; i++)
        if (!strcmp(spec->algorithm[i][0], func) &&
            !strcmp(spec->algorithm[i][1], name))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static struct spec spec;
    int bad = 0, n = 0;

    if (argc != 2 || spec_read(argv[1], 2, &spec))
        return 1;
    for (; cx_algorithms[n]; n++) {
        const char *func = cx_func_str(cx_algorithms[n]->func);

        if (listed(&spec, func, cx_algorithms[n]->name))
            continue;
        printf("%s has no row 'algorithm %s %s'\n", argv[1], func,
               cx_algorithms[n]->name);
        bad++;
    }
    if (spec.nalgorithms != n) {
        printf("%s lists %d algorithms, src/coll has %d\n", argv[1],
               spec.nalgorithms, n);
        bad++;
    }
    printf("%d algorithms, %d problems\n", n, bad);
    return bad || !n ? 1 : 0;
}
