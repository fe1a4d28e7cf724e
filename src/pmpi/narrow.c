/* SPDX-License-Identifier: BSD-3-Clause */
/* narrow.c - large-count forms for an MPI that has only the plain ones.
 *
 * libcoax.so shows MPI_X_c whatever MPI is behind it, and programs that look
 * for it (mpi4py does) take it where they find it. So it works: registers pass
 * as they are when the counts in them fit, arrays of counts are copied. What
 * does not fit, and arrays that must outlive the call, are errors. */
#include "pmpi/narrow.h"

#include <limits.h>

#include "base/alloc.h"
#include "base/log.h"

typedef int (*call_fn)(cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg,
                       cx_reg, cx_reg, cx_reg, cx_reg, cx_reg, cx_reg);

int cx_call_mpi(cx_fn function, const cx_reg *a)
{
    return ((call_fn)function)(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7],
                               a[8], a[9], a[10], a[11], a[12]);
}

static int unsupported(const char *name, const char *why)
{
    cx_error("%s: the MPI library of this program has only the form with int "
             "counts, and %s: use an MPI that has MPI 4.0",
             name, why);
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static int fits(int64_t count)
{
    return count >= INT_MIN && count <= INT_MAX;
}

/* The array of argument `i` as ints; owned by the caller. */
static enum cx_status copy_array(const struct cx_narrow *narrow, int i,
                                 const cx_reg *args, int **out)
{
    const int64_t *wide = (const int64_t *)args[i];
    int *copy = cx_alloc((size_t)narrow->elements[i], sizeof(*copy));
    int k;

    if (copy == NULL)
        return CX_ERR_NOMEM;
    for (k = 0; k < narrow->elements[i]; k++) {
        if (!fits(wide[k])) {
            cx_free(copy);
            return CX_ERR_ARG;
        }
        copy[k] = (int)wide[k];
    }
    *out = copy;
    return CX_OK;
}

int cx_narrow_call(const struct cx_narrow *narrow, enum cx_wrapped plain,
                   const char *name, const cx_reg *args)
{
    int *copies[CX_MAX_ARGS] = {NULL};
    enum cx_status status = CX_OK;
    cx_reg passed[CX_MAX_ARGS];
    int i, rc;

    for (i = 0; i < CX_MAX_ARGS && status == CX_OK; i++) {
        passed[i] = args[i];
        if (narrow->scalars >> i & 1 && !fits((int64_t)args[i]))
            status = CX_ERR_ARG;
        if (!(narrow->arrays >> i & 1) || args[i] == 0)
            continue;
        status = copy_array(narrow, i, args, &copies[i]);
        passed[i] = (cx_reg)copies[i];
    }
    if (status == CX_OK)
        rc = cx_call_mpi(cx_raw(plain), passed);
    else
        rc = unsupported(name, status == CX_ERR_NOMEM ? "memory is short"
                                                      : "a count is larger");
    for (i = 0; i < CX_MAX_ARGS; i++)
        cx_free(copies[i]);
    return rc;
}

/* The arguments of one side of a collective. */
static void add_side(struct cx_narrow *narrow, const struct cx_coll_call *call,
                     const struct cx_side *side)
{
    int n = cx_coll_nblocks(call, side);

    if (side->layout == CX_LAYOUT_NONE)
        return;
    if (side->layout == CX_LAYOUT_ONE || side->layout == CX_LAYOUT_EACH) {
        narrow->scalars |= 1u << side->count;
        return;
    }
    if (!cx_coll_uses(call, side)) /* its arrays may be no arrays */
        return;
    narrow->arrays |= 1u << side->count;
    narrow->elements[side->count] =
        side->layout == CX_LAYOUT_VEC || side->layout == CX_LAYOUT_WVEC
            ? n
            : call->size;
    if (side->displs >= 0 && !(call->coll->flags & CX_COLL_WIDE)) {
        narrow->arrays |= 1u << side->displs;
        narrow->elements[side->displs] = n;
    }
}

int cx_narrow_coll(enum cx_coll_id id, enum cx_wrapped which, const char *name,
                   int blocking, const cx_reg *args)
{
    struct cx_narrow narrow = {0};
    struct cx_coll_call call;

    if (!cx_raw_exists(which - 1))
        return cx_call_mpi(cx_raw(which), args);
    if (!cx_coll_read(&call, id, 1, args)) /* for MPI to report */
        return cx_call_mpi(cx_raw(which - 1), args);
    add_side(&narrow, &call, &call.coll->send);
    add_side(&narrow, &call, &call.coll->recv);
    if (narrow.arrays != 0 && !blocking)
        return unsupported(name, "copies of its arrays would have to outlive "
                                 "the call");
    return cx_narrow_call(&narrow, which - 1, name, args);
}

cx_fn cx_raw_large(enum cx_wrapped which, cx_reg count, cx_reg other)
{
    if (cx_raw_exists(which) || !fits((int64_t)count) || !fits((int64_t)other))
        return cx_raw(which);
    return cx_raw(which - 1);
}
