/* SPDX-License-Identifier: BSD-3-Clause */
/* stage.c - GPU memory through pinned shadow slots.
 *
 * A tile's blocks that the plan reads come to the host before its ops, those
 * that it writes go back after them; the copies of one tile overlap the
 * messages of others. Host memory never passes here. */
#include "coll/instance.h"

static void copy_runs(struct cx_instance *inst, struct cx_tile *tile,
                      enum cx_space space, const struct cx_run_of_blocks *runs,
                      uint32_t nruns, int to_host)
{
    const struct cx_gpu_ops *ops = inst->io.gpu_ops;
    const struct cx_mem *mem = &inst->low.mem[space];

    for (uint32_t i = 0; i < nruns; i++) {
        struct cx_req *req = &tile->copies[tile->ncopies];
        struct cx_transfer x;

        cx_lower_transfer(&inst->low, &tile->map, space, &runs[i], &x);
        if (x.width == 0)
            continue;
        tile->ncopies++;
        req->status = CX_INPROGRESS;
        if (x.rows == 1 && to_host)
            ops->copy(inst->io.gpu, mem, 1, x.shadow, x.user, x.width, req);
        else if (x.rows == 1)
            ops->copy(inst->io.gpu, mem, 0, x.user, x.shadow, x.width, req);
        else if (to_host)
            ops->copy2d(inst->io.gpu, mem, 1, x.shadow, x.shadow_pitch, x.user,
                        x.user_pitch, x.width, x.rows, req);
        else
            ops->copy2d(inst->io.gpu, mem, 0, x.user, x.user_pitch, x.shadow,
                        x.shadow_pitch, x.width, x.rows, req);
    }
}

/* The space whose shadow slots hold what SRC names. */
static int loads(const struct cx_lowered *low)
{
    return low->staged[low->inplace ? CX_DST : CX_SRC];
}

void cx_stage_load(struct cx_instance *inst, struct cx_tile *tile)
{
    const struct cx_plan *plan = inst->plan;
    int k = inst->low.inplace;

    tile->ncopies = tile->copies_done = 0;
    if (loads(&inst->low))
        copy_runs(inst, tile, CX_SRC, plan->load[k], plan->nload[k], 1);
}

void cx_stage_store(struct cx_instance *inst, struct cx_tile *tile)
{
    const struct cx_plan *plan = inst->plan;
    int k = inst->low.inplace;

    tile->ncopies = tile->copies_done = 0;
    if (inst->low.staged[CX_DST])
        copy_runs(inst, tile, CX_DST, plan->store[k], plan->nstore[k], 0);
}

static void copy_failed(struct cx_instance *inst, const struct cx_tile *tile,
                        enum cx_status status)
{
    int load = tile->stage == CX_TILE_LOAD;

    cx_instance_fail(
        inst, status, "a copy %s GPU %d failed in tile %zu of %zu: %s",
        load ? "from" : "to", inst->low.mem[load ? CX_SRC : CX_DST].device,
        tile->index + 1, inst->low.ntiles, cx_status_str(status));
}

int cx_stage_poll(struct cx_instance *inst, struct cx_tile *tile)
{
    while (tile->copies_done < tile->ncopies) {
        const struct cx_req *req = &tile->copies[tile->copies_done];

        if (req->status == CX_INPROGRESS)
            return 0;
        if (req->status != CX_OK) {
            copy_failed(inst, tile, req->status);
            return 0;
        }
        tile->copies_done++;
    }
    return 1;
}

uint32_t cx_stage_max_copies(const struct cx_plan *plan)
{
    uint32_t most = 0;

    for (int k = 0; k < 2; k++) {
        if (plan->nload[k] > most)
            most = plan->nload[k];
        if (plan->nstore[k] > most)
            most = plan->nstore[k];
    }
    return most;
}

enum cx_status cx_stage_fence(struct cx_instance *inst)
{
    const struct cx_gpu_ops *ops = inst->io.gpu_ops;

    if (inst->low.ntiles == 0)
        return CX_OK;
    for (int space = CX_SRC; space <= CX_DST; space++) {
        enum cx_status status;

        if (!inst->low.staged[space])
            continue;
        status = ops->fence(inst->io.gpu, &inst->low.mem[space]);
        if (status != CX_OK)
            return status;
    }
    return CX_OK;
}
