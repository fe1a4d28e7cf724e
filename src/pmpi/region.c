/* SPDX-License-Identifier: BSD-3-Clause */
/* region.c - one buffer of a collective, mirrored in host memory: many blocks
 * round one address, each of which may lie on a GPU.
 *
 * The mirror keeps all distances, so that MPI gets the program's own counts and
 * displacements and only another address. Bytes between blocks are neither
 * copied nor, where there are many, ever backed by memory. What is copied goes
 * in few calls: neighbouring blocks as one, equal ones at one distance as one
 * 2D copy. */
#include "pmpi/region.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/log.h"

static uintptr_t first_byte(const struct cx_buffer *block)
{
    return (uintptr_t)block->addr + (uintptr_t)block->low;
}

/* Every byte of the span is described. */
static int solid(const struct cx_buffer *block)
{
    return block->size == block->extent && block->size == block->true_extent;
}

/* One more block for the list, when it has bytes. */
static enum cx_status add(struct cx_blocks *list, const struct cx_buffer *block)
{
    if (!block->usable)
        return CX_DECLINED;
    if (block->nbytes > 0)
        list->block[list->n++] = *block;
    return CX_OK;
}

enum cx_status cx_blocks_read(struct cx_blocks *list,
                              const struct cx_coll_call *call,
                              const struct cx_side *side, cx_reg base)
{
    int i, n = cx_coll_nblocks(call, side);
    enum cx_status status = CX_OK;
    struct cx_buffer buf = {0};
    struct cx_block block;

    list->block = cx_alloc((size_t)n, sizeof(*list->block));
    if (list->block == NULL)
        return CX_ERR_NOMEM;
    for (i = 0; i < n && status == CX_OK; i++) {
        if (!cx_coll_block(call, side, i, buf.extent, &block))
            return CX_DECLINED;
        if (block.count == 0 && block.type == MPI_DATATYPE_NULL)
            continue;
        if (i == 0 || block.type != buf.type)
            status = cx_buffer_init(&buf, NULL, 0, block.type);
        /* Of a VEC the extent is known only now. */
        if (status != CX_OK ||
            !cx_coll_block(call, side, i, buf.extent, &block))
            return CX_DECLINED;
        status = cx_buffer_recount(
            &buf, (void *)(base + (uintptr_t)block.offset), block.count);
        if (status == CX_OK)
            status = add(list, &buf);
    }
    return status;
}

/* Where the blocks of a list lie; grows [low, high). */
static enum cx_status locate(struct cx_blocks *list, struct cx_region *region)
{
    enum cx_status status = CX_OK;
    size_t i;

    for (i = 0; i < list->n && status == CX_OK; i++) {
        struct cx_buffer *block = &list->block[i];
        uintptr_t first = first_byte(block);

        status = cx_buffer_query(block);
        if (region->low == region->high) {
            region->low = first;
            region->high = first + block->span;
        }
        if (first < region->low)
            region->low = first;
        if (first + block->span > region->high)
            region->high = first + block->span;
        region->described +=
            block->mem.kind == CX_MEM_MIXED ? block->nbytes : block->span;
        if (cx_mem_on_gpu(&block->mem))
            region->device_bytes += block->nbytes;
    }
    return status;
}

static int by_address(const void *a, const void *b)
{
    uintptr_t x = first_byte(a), y = first_byte(b);

    return (x > y) - (x < y);
}

enum cx_status cx_region_locate(struct cx_region *region)
{
    enum cx_status status = locate(&region->in, region);

    if (status == CX_OK)
        status = locate(&region->out, region);
    if (region->in.n > 1)
        qsort(region->in.block, region->in.n, sizeof(*region->in.block),
              by_address);
    if (region->out.n > 1)
        qsort(region->out.block, region->out.n, sizeof(*region->out.block),
              by_address);
    return status;
}

/* --- copies ----------------------------------------------------------------
 */

static int same_memory(const struct cx_mem *a, const struct cx_mem *b)
{
    return a->kind == b->kind && a->ctx == b->ctx &&
           a->buffer_id == b->buffer_id && a->kind != CX_MEM_MIXED;
}

/* A stretch of bytes that is copied as one. */
struct run {
    uintptr_t at;
    size_t nbytes;
    const struct cx_mem *mem;
    const struct cx_buffer *block; /* the first */
};

/* The run that begins with block `*i`: it and those that follow without a gap;
 * `*i` is then the next one. Blocks may overlap where they are sent. */
static struct run next_run(const struct cx_blocks *list, size_t *i)
{
    const struct cx_buffer *block = &list->block[*i];
    struct run run = {first_byte(block), block->span, &block->mem, block};

    for (++*i; *i < list->n; ++*i) {
        block = &list->block[*i];
        if (first_byte(block) > run.at + run.nbytes ||
            !same_memory(&block->mem, run.mem))
            break;
        if (first_byte(block) + block->span > run.at + run.nbytes)
            run.nbytes = first_byte(block) + block->span - run.at;
    }
    return run;
}

static enum cx_status copy_rows(const struct cx_region *region, int to_host,
                                const struct run *run, size_t pitch,
                                size_t rows)
{
    char *host = region->host + (run->at - region->low);
    char *user = (char *)run->at;
    size_t row;

    if (run->mem->kind == CX_MEM_MIXED)
        return cx_buffer_copy_image(run->block, host, to_host);
    if (cx_mem_on_gpu(run->mem))
        return cx_buffer_mem_copy2d(run->mem, to_host, to_host ? host : user,
                                    pitch, to_host ? user : host, pitch,
                                    run->nbytes, rows);
    for (row = 0; row < rows; row++)
        memcpy((to_host ? host : user) + row * pitch,
               (to_host ? user : host) + row * pitch, run->nbytes);
    return CX_OK;
}

/* Whole spans, sorted by address. */
static enum cx_status copy_spans(const struct cx_region *region,
                                 const struct cx_blocks *list, int to_host)
{
    enum cx_status status = CX_OK;
    size_t i = 0;

    while (i < list->n && status == CX_OK) {
        struct run first = next_run(list, &i), next;
        size_t rows = 1, pitch = first.nbytes, ahead = i;

        for (; ahead < list->n; rows++, i = ahead) {
            next = next_run(list, &ahead);
            if (rows == 1)
                pitch = next.at - first.at;
            if (next.nbytes != first.nbytes || pitch < first.nbytes ||
                next.at != first.at + rows * pitch ||
                !same_memory(next.mem, first.mem))
                break;
        }
        status = copy_rows(region, to_host, &first, pitch, rows);
    }
    return status;
}

static enum cx_status copy_holey(const struct cx_region *region,
                                 const struct cx_blocks *list)
{
    enum cx_status status = CX_OK;
    size_t i;

    for (i = 0; i < list->n && status == CX_OK; i++) {
        const struct cx_buffer *block = &list->block[i];
        const char *host = region->host + (first_byte(block) - region->low);

        status = cx_buffer_write_back(block, host);
    }
    return status;
}

static int all_solid(const struct cx_blocks *list)
{
    size_t i;

    for (i = 0; i < list->n; i++) {
        if (!solid(&list->block[i]))
            return 0;
    }
    return 1;
}

/* --- the mirror ------------------------------------------------------------
 */

/* Alignment of the blocks is kept up to this; a mirror is larger by it. */
enum { ALIGNMENT = 64 };
/* So many bytes between blocks are no reason for a mapping. */
enum { SMALL_GAPS = 1 << 20 };

static enum cx_status make_room(struct cx_region *region)
{
    size_t nbytes = region->high - region->low + ALIGNMENT;

    region->size = nbytes;
    region->mapped = nbytes / 2 > region->described + SMALL_GAPS;
    if (region->mapped) {
        region->room = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (region->room == MAP_FAILED)
            region->room = NULL;
    } else {
        region->room = cx_alloc(nbytes, 1);
    }
    if (region->room == NULL) {
        cx_error("no %zu bytes of host memory for a copy of a buffer on a GPU",
                 nbytes);
        return CX_ERR_NOMEM;
    }
    region->host = (char *)region->room + region->low % ALIGNMENT;
    return CX_OK;
}

enum cx_status cx_region_open(struct cx_region *region, cx_reg *base)
{
    enum cx_status status;

    if (region->device_bytes == 0)
        return CX_OK;
    status = make_room(region);
    if (status == CX_OK)
        status = copy_spans(region, &region->in, 1);
    if (status == CX_OK)
        *base += (uintptr_t)region->host - region->low;
    return status;
}

enum cx_status cx_region_close(struct cx_region *region, int copy_out)
{
    enum cx_status status = CX_OK;

    if (region->room != NULL && copy_out)
        status = all_solid(&region->out) ? copy_spans(region, &region->out, 0)
                                         : copy_holey(region, &region->out);
    if (region->room != NULL && region->mapped)
        munmap(region->room, region->size);
    else
        cx_free(region->room);
    cx_free(region->in.block);
    cx_free(region->out.block);
    memset(region, 0, sizeof(*region));
    return status;
}
