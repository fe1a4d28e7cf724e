/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse.c - see sparse.h.
 *
 * The span of MPI_BOTTOM's types can be most of the address space, so the image
 * is a sparse file: unpacking 0xff into it makes the pages that are described,
 * and the file system tells which those are. */
#include "pmpi/sparse.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"

/* Growing a file past the limit would raise a signal. */
static int grow(int fd, size_t nbytes)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < nbytes) {
        errno = EFBIG;
        return -1;
    }
    return ftruncate(fd, (off_t)nbytes);
}

static enum cx_status map_image(struct cx_sparse *sparse)
{
    void *image = MAP_FAILED;

    sparse->fd = memfd_create("coax", MFD_CLOEXEC);
    if (sparse->fd >= 0 && grow(sparse->fd, sparse->span) == 0)
        image = mmap(NULL, sparse->span, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE, sparse->fd, 0);
    if (image == MAP_FAILED) {
        cx_error("a buffer in several memories spans %zu bytes, and no image "
                 "of that can be mapped: %s; describe it by types closer "
                 "together, or lift the limits on address space and file size",
                 sparse->span, strerror(errno));
        if (sparse->fd >= 0)
            close(sparse->fd);
        return CX_ERR_NOMEM;
    }
    madvise(image, sparse->span, MADV_DONTFORK);
    madvise(image, sparse->span, MADV_DONTDUMP);
    sparse->image = image;
    return CX_OK;
}

void cx_sparse_close(struct cx_sparse *sparse)
{
    if (sparse->image == NULL)
        return;
    munmap(sparse->image, sparse->span);
    close(sparse->fd);
    cx_free(sparse->block);
    memset(sparse, 0, sizeof(*sparse));
}

/* Room for one more. */
static enum cx_status reserve(struct cx_sparse *sparse)
{
    size_t room = sparse->room > 0 ? 2 * sparse->room : 16;
    struct cx_sparse_run *more;

    if (sparse->n < sparse->room)
        return CX_OK;
    more = cx_alloc(room, sizeof(*more));
    if (more == NULL)
        return CX_ERR_NOMEM;
    if (sparse->n > 0)
        memcpy(more, sparse->block, sparse->n * sizeof(*more));
    cx_free(sparse->block);
    sparse->block = more;
    sparse->room = room;
    return CX_OK;
}

static int same_memory(const struct cx_mem *a, const struct cx_mem *b)
{
    return a->kind == b->kind && a->device == b->device && a->ctx == b->ctx &&
           a->buffer_id == b->buffer_id;
}

/* As one more row of the last block, or as a new one. */
static enum cx_status add(struct cx_sparse *sparse, size_t at, size_t width)
{
    struct cx_sparse_run *last =
        sparse->n > 0 ? &sparse->block[sparse->n - 1] : NULL;
    enum cx_status status;

    if (last != NULL && last->width == width &&
        same_memory(&last->mem, &sparse->mem)) {
        if (last->rows == 1)
            last->pitch = at - last->at;
        if (at == last->at + last->rows * last->pitch) {
            last->rows++;
            return CX_OK;
        }
    }
    status = reserve(sparse);
    if (status == CX_OK)
        sparse->block[sparse->n++] = (struct cx_sparse_run){.at = at,
                                                            .width = width,
                                                            .pitch = width,
                                                            .rows = 1,
                                                            .mem = sparse->mem};
    return status;
}

/* A run of described bytes, cut where the memory changes. */
static enum cx_status add_run(struct cx_sparse *sparse, const char *first_byte,
                              size_t at, size_t width)
{
    enum cx_status status = CX_OK;
    size_t n;

    while (width > 0 && status == CX_OK) {
        if (at < sparse->known || at >= sparse->known_end) {
            status = cx_buffer_mem_piece(first_byte + at, sparse->span - at,
                                         &sparse->mem, &n);
            if (status != CX_OK)
                return status;
            sparse->known = at;
            sparse->known_end = at + n;
        }
        n = sparse->known_end - at;
        if (n > width)
            n = width;
        status = add(sparse, at, n);
        at += n;
        width -= n;
    }
    return status;
}

/* The runs of one extent of the file, [data, end). */
static enum cx_status add_extent(struct cx_sparse *sparse, const char *first,
                                 size_t data, size_t end)
{
    const unsigned char *mask = (const unsigned char *)sparse->image;
    enum cx_status status = CX_OK;
    size_t width;

    for (size_t at = data; status == CX_OK; at += width) {
        width = cx_buffer_next_run(mask, end, &at);
        if (width == 0)
            break;
        status = add_run(sparse, first, at, width);
    }
    return status;
}

static enum cx_status find_blocks(struct cx_sparse *sparse, const char *first)
{
    enum cx_status status = CX_OK;
    off_t data = 0, hole;

    while (status == CX_OK) {
        data = lseek(sparse->fd, data, SEEK_DATA);
        if (data < 0 || (size_t)data >= sparse->span)
            return CX_OK;
        hole = lseek(sparse->fd, data, SEEK_HOLE);
        if (hole < 0 || (size_t)hole > sparse->span)
            hole = (off_t)sparse->span;
        status = add_extent(sparse, first, (size_t)data, (size_t)hole);
        data = hole;
    }
    return status;
}

enum cx_status cx_sparse_open(struct cx_sparse *sparse,
                              const struct cx_buffer *buf)
{
    enum cx_status status;

    memset(sparse, 0, sizeof(*sparse));
    sparse->span = buf->span;
    status = map_image(sparse);
    if (status != CX_OK)
        return status;
    status = cx_buffer_mark(buf, sparse->image);
    if (status == CX_OK)
        status = find_blocks(sparse, cx_buffer_first_byte(buf));
    if (status != CX_OK)
        cx_sparse_close(sparse);
    return status;
}

static void copy_rows(char *dst, const char *src,
                      const struct cx_sparse_run *block)
{
    for (size_t row = 0; row < block->rows; row++)
        memcpy(dst + row * block->pitch, src + row * block->pitch,
               block->width);
}

enum cx_status cx_sparse_copy(const struct cx_sparse *sparse,
                              const struct cx_buffer *buf, char *image,
                              int to_host)
{
    enum cx_status status = CX_OK;

    for (size_t i = 0; i < sparse->n && status == CX_OK; i++) {
        const struct cx_sparse_run *block = &sparse->block[i];
        char *theirs = cx_buffer_first_byte(buf) + block->at;
        char *ours = image + block->at;
        char *dst = to_host ? ours : theirs, *src = to_host ? theirs : ours;

        if (cx_mem_on_gpu(&block->mem))
            status = cx_buffer_mem_copy2d(&block->mem, to_host, dst,
                                          block->pitch, src, block->pitch,
                                          block->width, block->rows);
        else
            copy_rows(dst, src, block);
    }
    return status;
}
