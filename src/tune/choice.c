/* SPDX-License-Identifier: BSD-3-Clause */
/* choice.c - the choice by size, and COAX_ALGO.
 *
 * Grammar: FUNC:RULE[,RULE...][;FUNC:...]  RULE = NAME[@[MIN]-[MAX]]
 * Sizes take K, M, G and are inclusive; the first rule that fits wins. */
#include "tune/choice.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/settings.h"

struct rule {
    enum cx_func func;
    const char *name; /* the registry's string */
    size_t min, max;
};

enum { MAX_RULES = 64 };

struct cx_chooser {
    struct rule rules[MAX_RULES];
    int nrules;
    size_t small;
};

/* Default by size: the first row of the function whose limit is not passed. */
static const struct {
    enum cx_func func;
    size_t limit;
    const char *name;
} defaults[] = {
    {CX_ALLREDUCE, 32 << 10, "rdouble"}, {CX_ALLREDUCE, SIZE_MAX, "ring"},
    {CX_BCAST, 64 << 10, "knomial"},     {CX_BCAST, SIZE_MAX, "chain"},
    {CX_ALLGATHER, 64 << 10, "bruck"},   {CX_ALLGATHER, SIZE_MAX, "ring"},
};

/* Tiles: large enough to hide a message's start-up, small enough that copies
 * to and from a GPU overlap with the wire. `per_rank`: a ring's tile is cut
 * into one block a rank, so the block is what is fixed. */
static const struct {
    enum cx_func func;
    const char *name;
    size_t tile_bytes;
    int per_rank, depth;
} tiles[] = {
    {CX_ALLREDUCE, "rdouble", 256 << 10, 0, 3},
    {CX_ALLREDUCE, "ring", 128 << 10, 1, 4},
    {CX_BCAST, "knomial", 256 << 10, 0, 3},
    {CX_BCAST, "chain", 128 << 10, 0, 4},
    {CX_ALLGATHER, "ring", 256 << 10, 0, 4},
    {CX_ALLGATHER, "bruck", 256 << 10, 0, 3},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct span {
    const char *at;
    size_t len;
};

/* Cuts `*rest` at the first `sep`. */
static struct span next_part(struct span *rest, char sep)
{
    const char *cut = memchr(rest->at, sep, rest->len);
    struct span part = *rest;

    if (cut == NULL) {
        rest->at += rest->len;
        rest->len = 0;
        return part;
    }
    part.len = (size_t)(cut - part.at);
    rest->at = cut + 1;
    rest->len -= part.len + 1;
    return part;
}

static int parse_bound(struct span text, size_t dflt, size_t *out)
{
    char copy[32];

    if (text.len == 0) {
        *out = dflt;
        return 0;
    }
    if (text.len >= sizeof(copy))
        return -1;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    return cx_parse_size(copy, out);
}

static const char *find_name(enum cx_func func, struct span text,
                             cx_names_fn names)
{
    const char *name;
    int i;

    for (i = 0; (name = names(func, i)) != NULL; i++) {
        if (strlen(name) == text.len && memcmp(name, text.at, text.len) == 0)
            return name;
    }
    return NULL;
}

static void list_names(enum cx_func func, cx_names_fn names, char *out,
                       size_t n)
{
    size_t used = 0;
    const char *name;
    int i;

    out[0] = '\0';
    for (i = 0; (name = names(func, i)) != NULL && used < n; i++)
        used += (size_t)snprintf(out + used, n - used, "%s%s",
                                 i > 0 ? ", " : "", name);
}

struct parser {
    struct cx_chooser *chooser;
    cx_names_fn names;
    char *why;
    size_t why_size;
};

static enum cx_status parse_rule(struct parser *p, enum cx_func func,
                                 struct span text)
{
    struct span rest = text, name = next_part(&rest, '@'), low;
    struct rule *rule = &p->chooser->rules[p->chooser->nrules];
    char known[128];
    int dash, ranged;

    list_names(func, p->names, known, sizeof(known));
    if (p->chooser->nrules == MAX_RULES) {
        snprintf(p->why, p->why_size, "COAX_ALGO has more than %d rules",
                 (int)MAX_RULES);
        return CX_ERR_CONFIG;
    }
    rule->func = func;
    rule->name = find_name(func, name, p->names);
    if (rule->name == NULL) {
        snprintf(p->why, p->why_size,
                 "COAX_ALGO: %s has no algorithm '%.*s' (it has: %s)",
                 cx_func_str(func), (int)name.len, name.at, known);
        return CX_ERR_CONFIG;
    }
    dash = memchr(rest.at, '-', rest.len) != NULL;
    ranged = rest.at > name.at + name.len; /* an '@' was there */
    low = next_part(&rest, '-');
    if (ranged != dash || parse_bound(low, 0, &rule->min) != 0 ||
        parse_bound(rest, SIZE_MAX, &rule->max) != 0) {
        snprintf(p->why, p->why_size,
                 "COAX_ALGO: '%.*s' is not NAME@MIN-MAX with sizes such as "
                 "64K or 1M",
                 (int)text.len, text.at);
        return CX_ERR_CONFIG;
    }
    if (rule->min > rule->max) {
        snprintf(p->why, p->why_size,
                 "COAX_ALGO: in '%.*s' the smallest size is above the largest",
                 (int)text.len, text.at);
        return CX_ERR_CONFIG;
    }
    p->chooser->nrules++;
    return CX_OK;
}

static enum cx_status parse_func(struct parser *p, struct span text)
{
    struct span rest = text, head = next_part(&rest, ':');
    enum cx_status status = CX_OK;
    int func;

    for (func = 0; func < CX_NFUNCS; func++) {
        const char *name = cx_func_str((enum cx_func)func);

        if (strlen(name) == head.len && memcmp(name, head.at, head.len) == 0)
            break;
    }
    if (func == CX_NFUNCS || rest.len == 0) {
        snprintf(p->why, p->why_size,
                 "COAX_ALGO: '%.*s' is not FUNC:NAME with FUNC allreduce, "
                 "bcast or allgather",
                 (int)text.len, text.at);
        return CX_ERR_CONFIG;
    }
    while (rest.len > 0 && status == CX_OK)
        status = parse_rule(p, (enum cx_func)func, next_part(&rest, ','));
    return status;
}

enum cx_status cx_chooser_create(const char *algo, size_t small,
                                 cx_names_fn names, char *why, size_t why_size,
                                 struct cx_chooser **out)
{
    struct cx_chooser *chooser = cx_alloc(1, sizeof(*chooser));
    struct span rest = {algo != NULL ? algo : "", 0};
    struct parser parser = {chooser, names, why, why_size};
    enum cx_status status = CX_OK;

    if (chooser == NULL)
        return CX_ERR_NOMEM;
    chooser->small = small;
    rest.len = strlen(rest.at);
    while (rest.len > 0 && status == CX_OK)
        status = parse_func(&parser, next_part(&rest, ';'));
    if (status != CX_OK)
        cx_free(chooser);
    else
        *out = chooser;
    return status;
}

void cx_chooser_destroy(struct cx_chooser *chooser)
{
    cx_free(chooser);
}

static const char *forced(const struct cx_chooser *chooser,
                          const struct cx_choice_facts *facts)
{
    int i;

    for (i = 0; i < chooser->nrules; i++) {
        const struct rule *rule = &chooser->rules[i];

        if (rule->func == facts->func && facts->nbytes >= rule->min &&
            facts->nbytes <= rule->max)
            return rule->name;
    }
    return NULL;
}

static const char *by_size(const struct cx_choice_facts *facts)
{
    size_t i;

    for (i = 0; i < COUNT(defaults); i++) {
        if (defaults[i].func == facts->func &&
            facts->nbytes <= defaults[i].limit)
            return defaults[i].name;
    }
    return NULL;
}

static void set_tile(const struct cx_choice_facts *facts, struct cx_choice *out)
{
    size_t i;

    out->tile_bytes = 256 << 10;
    out->depth = 3;
    for (i = 0; i < COUNT(tiles); i++) {
        if (tiles[i].func != facts->func ||
            strcmp(tiles[i].name, out->algorithm) != 0)
            continue;
        out->tile_bytes = tiles[i].tile_bytes;
        if (tiles[i].per_rank)
            out->tile_bytes *= (size_t)facts->nranks;
        out->depth = tiles[i].depth;
    }
}

void cx_choose(const struct cx_chooser *chooser,
               const struct cx_choice_facts *facts, struct cx_choice *out)
{
    memset(out, 0, sizeof(*out));
    out->algorithm = forced(chooser, facts);
    if (out->algorithm == NULL) {
        if (facts->nbytes <= chooser->small && !facts->mpi_is_wrong) {
            out->why = "at most COAX_SMALL bytes";
            return;
        }
        out->algorithm = by_size(facts);
    }
    set_tile(facts, out);
}
