/* SPDX-License-Identifier: BSD-3-Clause */
/* test_choice.c - COAX_ALGO's grammar and the choice by size. */
#include <string.h>

#include "../base/check.h"
#include "base/alloc.h"
#include "tune/choice.h"

static const char *names(enum cx_func func, int i)
{
    static const char *const table[CX_NFUNCS][3] = {
        {"rdouble", "ring", NULL},
        {"knomial", "chain", NULL},
        {"ring", "bruck", NULL},
    };

    return table[func][i];
}

static const char *chosen(const char *algo, enum cx_func func, size_t nbytes)
{
    struct cx_choice_facts facts = {
        .func = func, .nbytes = nbytes, .nranks = 4};
    struct cx_chooser *chooser;
    struct cx_choice choice;
    char why[256];

    if (cx_chooser_create(algo, 4096, names, why, sizeof(why), &chooser) !=
        CX_OK)
        return "refused";
    cx_choose(chooser, &facts, &choice);
    cx_chooser_destroy(chooser);
    return choice.algorithm != NULL ? choice.algorithm : "mpi";
}

static int is(const char *got, const char *want)
{
    if (strcmp(got, want) != 0)
        fprintf(stderr, "got %s, want %s\n", got, want);
    return strcmp(got, want) == 0;
}

static void test_by_size(void)
{
    CHECK(is(chosen("", CX_ALLREDUCE, 4096), "mpi"));
    CHECK(is(chosen("", CX_ALLREDUCE, 4097), "rdouble"));
    CHECK(is(chosen(NULL, CX_ALLREDUCE, 1 << 20), "ring"));
    CHECK(is(chosen("", CX_BCAST, 1 << 20), "chain"));
    CHECK(is(chosen("", CX_ALLGATHER, 8192), "bruck"));
}

static void test_forced(void)
{
    const char *algo = "allreduce:ring@1M-,rdouble@-64K;bcast:knomial";

    CHECK(is(chosen(algo, CX_ALLREDUCE, 8), "rdouble"));
    CHECK(is(chosen(algo, CX_ALLREDUCE, 65536), "rdouble"));
    CHECK(is(chosen(algo, CX_ALLREDUCE, 1 << 20), "ring"));
    CHECK(is(chosen(algo, CX_ALLREDUCE, (1 << 20) - 1), "ring")); /* default */
    CHECK(is(chosen(algo, CX_BCAST, 1 << 24), "knomial"));
    CHECK(is(chosen(algo, CX_ALLGATHER, 16), "mpi"));
}

static void test_refused(void)
{
    static const char *const bad[] = {
        "allreduce:rign",
        "allreduce",
        "allreduce:",
        "alltoall:ring",
        "allreduce:ring@x",
        "allreduce:ring@2M-1M",
        "bcast:ring",
        "bcast:,",
        "allreduce:ring@1M-2M-3M",
        "allreduce:ring,,ring",
        "ring",
        "allreduce:ring;bogus",
        "allreduce:ring@5",
        "allreduce:ring@",
    };
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK(is(chosen(bad[i], CX_BCAST, 1 << 20), "refused"));
}

static void test_wrong_mpi(void)
{
    struct cx_choice_facts facts = {
        .func = CX_ALLREDUCE, .nbytes = 8, .nranks = 4, .mpi_is_wrong = 1};
    struct cx_chooser *chooser;
    struct cx_choice choice;
    char why[256];

    CHECK(cx_chooser_create("", 4096, names, why, sizeof(why), &chooser) ==
          CX_OK);
    cx_choose(chooser, &facts, &choice);
    CHECK(choice.algorithm != NULL && choice.tile_bytes > 0);
    cx_chooser_destroy(chooser);
}

int main(void)
{
    test_by_size();
    test_forced();
    test_refused();
    test_wrong_mpi();
    CHECK(cx_alloc_live() == 0);
    return check_failures != 0;
}
