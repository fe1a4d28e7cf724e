/* SPDX-License-Identifier: BSD-3-Clause */
/* expr.c - hash-consed expressions; see expr.h. */
#include "expr.h"

#include <string.h>

#include "unit.h"

#define NSLOTS (1u << 18)

struct exprs {
    struct expr *all;
    int n, cap;
    int *slots; /* open addressing; 0 is empty */
};

struct exprs *exprs_create(void)
{
    struct exprs *set = must_alloc(sizeof(*set));

    set->cap = NSLOTS / 2;
    set->all = must_alloc((size_t)set->cap * sizeof(*set->all));
    set->slots = must_alloc(NSLOTS * sizeof(*set->slots));
    exprs_clear(set);
    return set;
}

void exprs_destroy(struct exprs *set)
{
    free(set->all);
    free(set->slots);
    free(set);
}

void exprs_clear(struct exprs *set)
{
    memset(set->slots, 0, NSLOTS * sizeof(*set->slots));
    set->n = 1; /* 0 is EXPR_UNDEFINED */
}

static int same(const struct expr *a, const struct expr *b)
{
    if (a->left || b->left)
        return a->left == b->left && a->right == b->right;
    return a->lo == b->lo && a->block == b->block;
}

static int intern(struct exprs *set, const struct expr *e)
{
    uint64_t hash = e->left ? (uint64_t)e->left << 32 | (uint32_t)e->right
                            : (uint64_t)e->lo << 40 | (uint32_t)e->block;
    uint32_t at = (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 46);

    while (set->slots[at] && !same(&set->all[set->slots[at]], e))
        at = (at + 1) % NSLOTS;
    if (!set->slots[at]) {
        CHECK(set->n < set->cap, "%d expressions", set->n);
        set->all[set->n] = *e;
        set->slots[at] = set->n++;
    }
    return set->slots[at];
}

int expr_leaf(struct exprs *set, int rank, int block)
{
    struct expr e;

    memset(&e, 0, sizeof(e));
    e.block = block;
    e.lo = e.hi = rank;
    e.ordered = e.once = e.nleaves = 1;
    e.ranks[rank / 64] = UINT64_C(1) << rank % 64;
    return intern(set, &e);
}

int expr_reduce(struct exprs *set, int left, int right)
{
    const struct expr *a = &set->all[left], *b = &set->all[right];
    struct expr e;

    memset(&e, 0, sizeof(e));
    e.left = left;
    e.right = right;
    e.block = a->block == b->block ? a->block : -1;
    e.lo = a->lo < b->lo ? a->lo : b->lo;
    e.hi = a->hi > b->hi ? a->hi : b->hi;
    e.ordered = a->ordered && b->ordered && a->hi < b->lo;
    e.once = a->once && b->once;
    e.nleaves = a->nleaves + b->nleaves;
    for (int i = 0; i < EXPR_MAX_RANKS / 64; i++) {
        e.once = e.once && !(a->ranks[i] & b->ranks[i]);
        e.ranks[i] = a->ranks[i] | b->ranks[i];
    }
    return intern(set, &e);
}

const struct expr *expr_get(const struct exprs *set, int number)
{
    return &set->all[number];
}
