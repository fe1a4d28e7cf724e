/* SPDX-License-Identifier: BSD-3-Clause */
/* plans.c - proves the plans of all algorithms for many numbers of ranks, and
 * that the proof notices plans that are wrong.
 *
 * Usage: unit-plans prove|mutate */
#include <string.h>

#include "base/alloc.h"
#include "symbolic.h"
#include "unit.h"

#define MAX_RANKS 130

static struct cx_plan *plans[MAX_RANKS];
static struct exprs *exprs;

static struct proof make(const struct cx_algorithm *algorithm, int nranks,
                         int root)
{
    struct proof proof = {.algorithm = algorithm,
                          .plans = plans,
                          .nranks = nranks,
                          .root = root,
                          .exprs = exprs,
                          .seed = (uint64_t)(nranks * 1000 + root)};

    for (int r = 0; r < nranks; r++) {
        struct cx_shape shape = {.rank = r, .nranks = nranks, .root = root};

        CHECK(algorithm->generate(&shape, &plans[r]) == CX_OK, "rank %d", r);
    }
    return proof;
}

static void drop(const struct proof *proof)
{
    for (int r = 0; r < proof->nranks; r++)
        cx_plan_destroy(plans[r]);
}

static void prove(const struct cx_algorithm *algorithm, int nranks, int root)
{
    struct proof proof = make(algorithm, nranks, root);

    CHECK(proof_run(&proof), "%s %s, %d ranks, root %d: %s",
          cx_func_str(algorithm->func), algorithm->name, nranks, root,
          proof.problem);
    drop(&proof);
}

static void prove_all(const struct cx_algorithm *algorithm)
{
    for (int p = 1; p <= MAX_RANKS; p++) {
        int step = algorithm->func != CX_BCAST ? p : p <= 17 ? 1 : p / 3;

        for (int root = 0; root < p; root += step)
            prove(algorithm, p, root);
        if (algorithm->func == CX_BCAST)
            prove(algorithm, p, p - 1);
    }
}

static void must_notice(struct proof *proof, const char *what, int rank,
                        uint32_t op)
{
    CHECK(!proof_run(proof), "%s %s, %d ranks: %s of rank %d, op %u unnoticed",
          cx_func_str(proof->algorithm->func), proof->algorithm->name,
          proof->nranks, what, rank, op);
}

/* Every predecessor is there for a reason. */
static int lose_preds(struct proof *proof, int rank, uint32_t id)
{
    struct cx_plan_op *op = &plans[rank]->ops[id];
    struct cx_plan_op kept = *op;
    int n = 0;

    for (int k = 0; k < 2; k++) {
        if (kept.pred[k] == CX_NO_OP)
            continue;
        op->pred[0] = kept.pred[!k];
        op->pred[1] = CX_NO_OP;
        must_notice(proof, "a lost predecessor", rank, id);
        n++;
        *op = kept;
    }
    return n;
}

static int swap_terms(struct proof *proof, int rank, uint32_t id)
{
    struct cx_plan_op *op = &plans[rank]->ops[id];
    struct cx_operand *x = &plans[rank]->operands[op->args + 1], kept = x[0];

    if (op->code != CX_OP_REDUCE || !proof->algorithm->ordered)
        return 0;
    x[0] = x[1];
    x[1] = kept;
    must_notice(proof, "a swapped reduction", rank, id);
    x[1] = x[0];
    x[0] = kept;
    return 1;
}

/* Another block than meant, wherever the space has more than one. */
static int shift_operands(struct proof *proof, int rank, uint32_t id)
{
    struct cx_plan *plan = plans[rank];
    struct cx_plan_op *op = &plan->ops[id];
    int n = 0;

    for (uint32_t a = op->args; a <= op->args + op->nin; a++) {
        struct cx_operand *x = &plan->operands[a], kept = *x;

        if (x->n != 1 || x->space == CX_SCRATCH ||
            (x->space == CX_SRC && plan->layout == CX_LAYOUT_ARRAY) ||
            plan->nblocks == 1)
            continue;
        x->first = (x->first + 1) % plan->nblocks;
        must_notice(proof, "a wrong block", rank, id);
        n++;
        *x = kept;
    }
    return n;
}

static void mutate_all(const struct cx_algorithm *algorithm)
{
    static const int sizes[] = {2, 3, 5, 8, 11};
    int n = 0;

    for (int k = 0; k < 5; k++) {
        struct proof proof = make(algorithm, sizes[k], 1);

        CHECK(proof_run(&proof), "%s", proof.problem);
        for (int r = 0; r < sizes[k]; r++) {
            for (uint32_t i = 0; i < plans[r]->nops; i++) {
                n += lose_preds(&proof, r, i);
                n += swap_terms(&proof, r, i);
                n += shift_operands(&proof, r, i);
            }
        }
        drop(&proof);
    }
    printf("%s %s: %d mutations noticed\n", cx_func_str(algorithm->func),
           algorithm->name, n);
    CHECK(n > 0, "%s has nothing to mutate", algorithm->name);
}

int main(int argc, char **argv)
{
    int mutate;

    CHECK(argc == 2, "usage: %s prove|mutate", argv[0]);
    mutate = strcmp(argv[1], "mutate") == 0;
    exprs = exprs_create();
    for (int i = 0; cx_algorithms[i]; i++) {
        if (mutate)
            mutate_all(cx_algorithms[i]);
        else
            prove_all(cx_algorithms[i]);
    }
    exprs_destroy(exprs);
    CHECK(cx_alloc_live() == 0, "%ld blocks leaked", cx_alloc_live());
    return 0;
}
