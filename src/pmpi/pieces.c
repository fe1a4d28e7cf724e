/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.c - is a host buffer with holes on the host all the way?
 *
 * Its ends are on the host; what lies in between decides whether MPI may see
 * it. MPI lets a buffer leave one array only by byte displacements (a struct or
 * an hindexed type, as a rule with MPI_BOTTOM); so these constructors are
 * followed to their parts, and of everything else the two ends count. No type
 * is copied by what is found here: it only says which way is safe.
 *
 * GPU memory shares no block of address space with other memory (CX_MEM_BLOCK),
 * so one answer serves for all described bytes of a block, and none fits
 * between two host bytes that are closer. A plain array of structs costs one
 * call of MPI and no question to the driver beyond the two ends. */
#include "pmpi/contents.h"
#include "pmpi/sparse.h"

#include "base/alloc.h"

#define MAX_DEPTH 16
#define NASKED 64

struct walk {
    uintptr_t asked[NASKED]; /* block number + 1 of the last questions, each
                                at its own place; 0: none */
    int mixed;               /* or unknown: the walk is over */
    enum cx_status status;
};

/* A type as a part of another one. */
struct part {
    MPI_Datatype type;
    MPI_Count lb, extent, true_lb, true_extent;
    int scattered; /* has byte displacements that may lead out of an array */
    struct followed *inside; /* owned; NULL until it is followed */
};

static int over(const struct walk *w)
{
    return w->mixed || w->status != CX_OK;
}

static void ask(struct walk *w, uintptr_t addr)
{
    uintptr_t block = addr / CX_MEM_BLOCK + 1;
    struct cx_mem mem;

    if (over(w) || w->asked[block % NASKED] == block)
        return;
    w->asked[block % NASKED] = block;
    w->status = cx_buffer_mem_query((const void *)addr, 1, &mem);
    if (w->status == CX_OK && cx_mem_on_gpu(&mem))
        w->mixed = 1;
}

static int has_byte_displacements(int combiner)
{
    return combiner == MPI_COMBINER_STRUCT ||
           combiner == MPI_COMBINER_HINDEXED ||
           combiner == MPI_COMBINER_HINDEXED_BLOCK ||
           combiner == MPI_COMBINER_HVECTOR;
}

/* 0 when MPI does not tell. */
static int look(MPI_Datatype type, struct part *part, int depth)
{
    struct cx_contents c = {0};
    struct part child;
    int known = 1;

    part->type = type;
    part->scattered = 0;
    part->inside = NULL;
    if (depth > MAX_DEPTH || !cx_contents_envelope(type, &c) ||
        cx_mpi.Type_get_extent_x(type, &part->lb, &part->extent) !=
            MPI_SUCCESS ||
        cx_mpi.Type_get_true_extent_x(type, &part->true_lb,
                                      &part->true_extent) != MPI_SUCCESS)
        return 0;
    if (c.combiner == MPI_COMBINER_NAMED ||
        part->true_extent < (MPI_Count)CX_MEM_BLOCK)
        return 1;
    part->scattered = has_byte_displacements(c.combiner);
    if (part->scattered)
        return 1;
    if (!cx_contents_open(type, &c))
        return 0;
    for (MPI_Count i = 0; i < c.ntypes && known; i++) {
        known = look(c.types[i], &child, depth + 1);
        part->scattered |= child.scattered;
    }
    cx_contents_close(&c);
    return known;
}

/* `count` elements in one array at `base`: its ends. */
static void ask_ends(struct walk *w, uintptr_t base, MPI_Count count,
                     const struct part *p)
{
    uintptr_t first = base + (uintptr_t)p->true_lb;
    uintptr_t last = first + (uintptr_t)((count - 1) * p->extent);

    if (count <= 0 || p->true_extent <= 0)
        return;
    ask(w, p->extent < 0 ? last : first);
    ask(w, (p->extent < 0 ? first : last) + (uintptr_t)p->true_extent - 1);
}

static void walk_part(struct walk *w, uintptr_t base, MPI_Count count,
                      struct part *p, int depth);

static MPI_Count blocklength(const struct cx_contents *c, MPI_Count i)
{
    return c->numbers[c->combiner == MPI_COMBINER_HINDEXED_BLOCK ||
                              c->combiner == MPI_COMBINER_HVECTOR
                          ? 1
                          : 1 + i];
}

static MPI_Count displacement(const struct cx_contents *c, MPI_Count i)
{
    if (c->combiner == MPI_COMBINER_HVECTOR)
        return i * c->numbers[2];
    return c->numbers[c->combiner == MPI_COMBINER_HINDEXED_BLOCK
                          ? 2 + i
                          : 1 + c->numbers[0] + i];
}

/* What a scattered type was made of, and its parts: asked once, however many
 * elements there are. */
struct followed {
    struct cx_contents made;
    struct part *parts; /* owned, one for each of its types */
};

static void forget(struct part *part)
{
    struct followed *f = part->inside;

    if (f == NULL)
        return;
    for (MPI_Count i = 0; f->parts != NULL && i < f->made.ntypes; i++)
        forget(&f->parts[i]);
    cx_free(f->parts);
    cx_contents_close(&f->made);
    cx_free(f);
    part->inside = NULL;
}

/* Fills part->inside; 0 when MPI does not tell, or there is no memory. */
static int follow(struct part *part, int depth)
{
    struct followed *f = cx_alloc(1, sizeof(*f));
    int known = 1;

    if (f == NULL || !cx_contents_envelope(part->type, &f->made) ||
        !cx_contents_open(part->type, &f->made)) {
        cx_free(f);
        return 0;
    }
    part->inside = f;
    f->parts = cx_alloc((size_t)f->made.ntypes + 1, sizeof(*f->parts));
    if (f->parts == NULL)
        return 0;
    for (MPI_Count i = 0; i < f->made.ntypes && known; i++)
        known = look(f->made.types[i], &f->parts[i], depth);
    return known;
}

/* What a struct, hindexed or hvector type puts at its displacements. */
static void walk_displaced(struct walk *w, uintptr_t base, struct followed *f,
                           int depth)
{
    const struct cx_contents *c = &f->made;
    int many = c->combiner == MPI_COMBINER_STRUCT;

    for (MPI_Count i = 0; i < c->numbers[0] && !over(w); i++)
        walk_part(w, base + (uintptr_t)displacement(c, i), blocklength(c, i),
                  &f->parts[many ? i : 0], depth);
}

/* One element of a scattered type. Those that only repeat another type are
 * followed; a vector or the like of scattered parts is not. */
static void walk_element(struct walk *w, uintptr_t base, struct followed *f,
                         int depth)
{
    int combiner = f->made.combiner;

    if (has_byte_displacements(combiner))
        walk_displaced(w, base, f, depth);
    else if (combiner == MPI_COMBINER_CONTIGUOUS)
        walk_part(w, base, f->made.numbers[0], f->parts, depth);
    else if (combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_RESIZED)
        walk_part(w, base, 1, f->parts, depth);
    else
        w->mixed = 1;
}

static void walk_part(struct walk *w, uintptr_t base, MPI_Count count,
                      struct part *p, int depth)
{
    if (over(w))
        return;
    if (!p->scattered) {
        ask_ends(w, base, count, p);
        return;
    }
    if (p->inside == NULL && !follow(p, depth + 1)) {
        w->mixed = 1;
        return;
    }
    for (MPI_Count i = 0; i < count && !over(w); i++)
        walk_element(w, base + (uintptr_t)(i * p->extent), p->inside,
                     depth + 1);
}

enum cx_status cx_pieces_mixed(const struct cx_buffer *buf, int *mixed)
{
    struct walk w = {.status = CX_OK};
    struct part part;

    if (look(buf->type, &part, 0))
        walk_part(&w, (uintptr_t)buf->addr, buf->count, &part, 0);
    else
        w.mixed = 1;
    forget(&part);
    *mixed = w.mixed;
    return w.status;
}
