/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.c - a choice buffer of any type on any memory: where it lies, and its
 * bytes to and from packed host memory.
 *
 * Types are never taken apart: MPI packs and unpacks. What a type does not
 * describe (holes) must not be written on the device, where a kernel may be
 * using it; which bytes those are is learnt by unpacking 0xff into zeros. */
#include "pmpi/sparse.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

/* An uncommitted type is for MPI to report, in the name of the call. */
static int committed(MPI_Datatype type)
{
    int position = 0;
    char nothing;

    if (cx_type_basic(type) || cx_engine_self_comm() == MPI_COMM_NULL)
        return 1;
    return cx_mpi.Pack(&nothing, 0, type, &nothing, 0, &position,
                       cx_engine_self_comm()) == MPI_SUCCESS;
}

/* Basic types that MPI has called plain, by the last byte of the handle, which
 * numbers them; the ABI keeps their size in the byte before it. */
static _Atomic uint32_t plain_types[256];

static int is_plain(MPI_Datatype type)
{
    uint32_t handle = (uint32_t)type;

    return handle != 0 && atomic_load_explicit(&plain_types[handle & 0xff],
                                               memory_order_relaxed) == handle;
}

/* Size and extents of the type, from its handle where that is known to say. */
static enum cx_status measure(struct cx_buffer *buf)
{
    uint32_t handle = (uint32_t)buf->type;
    MPI_Count size = handle >> 8 & 0xff;

    buf->plain = is_plain(buf->type);
    if (buf->plain) {
        buf->size = buf->extent = buf->true_extent = size;
        return CX_OK;
    }
    if (cx_mpi.Type_size_x(buf->type, &buf->size) != MPI_SUCCESS ||
        cx_mpi.Type_get_extent_x(buf->type, &buf->lb, &buf->extent) !=
            MPI_SUCCESS ||
        cx_mpi.Type_get_true_extent_x(buf->type, &buf->true_lb,
                                      &buf->true_extent) != MPI_SUCCESS)
        return CX_ERR_MPI;
    if (cx_type_basic(buf->type) && buf->size == size && buf->lb == 0 &&
        buf->extent == size && buf->true_lb == 0 && buf->true_extent == size)
        atomic_store_explicit(&plain_types[handle & 0xff], handle,
                              memory_order_relaxed);
    return CX_OK;
}

enum cx_status cx_buffer_recount(struct cx_buffer *buf, const void *addr,
                                 MPI_Count count)
{
    ptrdiff_t last;

    buf->addr = (void *)(uintptr_t)addr;
    buf->count = count;
    buf->low = 0;
    buf->span = 0;
    if (cx_mul((size_t)count, (size_t)buf->size, &buf->nbytes) != CX_OK)
        return CX_ERR_ARG;
    if (buf->nbytes == 0)
        return CX_OK;
    last = (ptrdiff_t)((count - 1) * buf->extent); /* may be negative */
    buf->low = (ptrdiff_t)buf->true_lb + (last < 0 ? last : 0);
    buf->span = (size_t)buf->true_extent + (size_t)(last < 0 ? -last : last);
    return CX_OK;
}

enum cx_status cx_buffer_init(struct cx_buffer *buf, const void *addr,
                              MPI_Count count, MPI_Datatype type)
{
    memset(buf, 0, sizeof(*buf));
    buf->type = type;
    if (measure(buf) != CX_OK)
        return CX_ERR_MPI;
    if (cx_buffer_recount(buf, addr, count) != CX_OK)
        return CX_ERR_ARG;
    buf->dense = cx_type_basic(type) && buf->size == buf->extent;
    buf->usable = committed(type);
    return CX_OK;
}

char *cx_buffer_first_byte(const struct cx_buffer *buf)
{
    /* MPI_BOTTOM is a null address: unsigned arithmetic keeps that defined. */
    return (char *)((uintptr_t)buf->addr + (uintptr_t)buf->low);
}

/* All bytes of the span are the type's, and of one array. */
static int is_solid(const struct cx_buffer *buf)
{
    return buf->span == buf->nbytes && buf->addr != NULL;
}

/* One array in several memories can only be a range that the program has
 * mapped itself, chunk by chunk; else it runs past its allocation. */
static enum cx_status check_solid(const struct cx_buffer *buf)
{
    const char *first = cx_buffer_first_byte(buf);
    struct cx_mem mem;
    size_t at, n;

    for (at = 0; at < buf->span; at += n) {
        enum cx_status status =
            cx_buffer_mem_piece(first + at, buf->span - at, &mem, &n);

        if (status != CX_OK)
            return status;
        if (mem.loose)
            continue;
        cx_error("the buffer at %p of %zu bytes is %s memory only up to byte "
                 "%zu: it runs past its allocation; check address and count",
                 (const void *)first, buf->span,
                 cx_mem_on_gpu(&mem) ? "GPU" : "host", at + n);
        return CX_ERR_ARG;
    }
    return CX_OK;
}

/* What is asked when: the two ends always (one question where they lie on one
 * host page). That decides for memory on a GPU. A host buffer without holes is
 * one array. One with holes is followed by its type where GPU memory could be
 * between its ends at all: over spans of CX_MEM_BLOCK. */
enum cx_status cx_buffer_query(struct cx_buffer *buf)
{
    enum cx_status status;
    int mixed = 0;

    memset(&buf->mem, 0, sizeof(buf->mem));
    buf->mem.device = -1;
    if (buf->nbytes == 0 || !cx_front_libcuda() ||
        cx_range_is_host(cx_buffer_first_byte(buf), buf->span))
        return CX_OK;
    status =
        cx_buffer_mem_query(cx_buffer_first_byte(buf), buf->span, &buf->mem);
    if (status != CX_OK)
        return status;
    if (buf->mem.kind == CX_MEM_MIXED)
        return is_solid(buf) ? check_solid(buf) : CX_OK;
    if (cx_mem_on_gpu(&buf->mem) || is_solid(buf) || buf->span < CX_MEM_BLOCK)
        return CX_OK;
    status = cx_pieces_mixed(buf, &mixed);
    if (mixed)
        buf->mem = (struct cx_mem){.kind = CX_MEM_MIXED, .device = -1};
    return status;
}

/* MPICH 4.0.2 refuses to pack from a null address, which MPI_BOTTOM is: names
 * the same bytes from `base` by a type shifted by -base. Freed by the caller.
 */
static enum cx_status shifted_type(const struct cx_buffer *buf, void *base,
                                   MPI_Datatype *type)
{
    MPI_Aint displacement = -(MPI_Aint)(uintptr_t)base;
    int count = (int)buf->count;

    if (buf->count > INT_MAX ||
        cx_mpi.Type_create_hindexed(1, &count, &displacement, buf->type,
                                    type) != MPI_SUCCESS)
        return CX_ERR_MPI;
    if (cx_mpi.Type_commit(type) == MPI_SUCCESS)
        return CX_OK;
    cx_mpi.Type_free(type);
    return CX_ERR_MPI;
}

/* MPI_Pack (`packing`) or MPI_Unpack of host memory at `addr`, of any count;
 * on a communicator of ours, so that an error is ours to report. */
static int call_pack(int packing, void *addr, MPI_Count count,
                     MPI_Datatype type, void *packed, size_t nbytes)
{
    MPI_Comm self = cx_engine_self_comm() != MPI_COMM_NULL
                        ? cx_engine_self_comm()
                        : MPI_COMM_SELF;
    MPI_Count wide = 0;
    int position = 0;

    if (nbytes > INT_MAX || count > INT_MAX) {
        if (cx_mpi.Pack_c == NULL || cx_mpi.Unpack_c == NULL)
            return MPI_ERR_COUNT;
        return packing ? cx_mpi.Pack_c(addr, count, type, packed,
                                       (MPI_Count)nbytes, &wide, self)
                       : cx_mpi.Unpack_c(packed, (MPI_Count)nbytes, &wide, addr,
                                         count, type, self);
    }
    return packing ? cx_mpi.Pack(addr, (int)count, type, packed, (int)nbytes,
                                 &position, self)
                   : cx_mpi.Unpack(packed, (int)nbytes, &position, addr,
                                   (int)count, type, self);
}

static enum cx_status convert(const struct cx_buffer *buf, int packing,
                              void *addr, void *packed)
{
    MPI_Datatype type;
    void *base = (void *)(uintptr_t)buf->low; /* of MPI_BOTTOM: the address */
    enum cx_status status;
    int rc;

    if (addr != NULL) {
        rc = call_pack(packing, addr, buf->count, buf->type, packed,
                       buf->nbytes);
    } else {
        status = shifted_type(buf, base, &type);
        if (status != CX_OK)
            return status;
        rc = call_pack(packing, base, 1, type, packed, buf->nbytes);
        cx_mpi.Type_free(&type);
    }
    return rc == MPI_SUCCESS ? CX_OK : CX_ERR_MPI;
}

static enum cx_status mpi_pack(const struct cx_buffer *buf, const void *from,
                               void *packed)
{
    return convert(buf, 1, (void *)(uintptr_t)from, packed);
}

static enum cx_status mpi_unpack(const struct cx_buffer *buf,
                                 const void *packed, void *to)
{
    return convert(buf, 0, to, (void *)(uintptr_t)packed);
}

/* The address to give MPI so that the first byte touched is `host`. */
static void *rebase(const struct cx_buffer *buf, void *host)
{
    return (void *)((uintptr_t)host - (uintptr_t)buf->low);
}

enum cx_status cx_buffer_mark(const struct cx_buffer *buf, void *image)
{
    unsigned char *ones = cx_alloc(buf->nbytes, 1);
    enum cx_status status = CX_ERR_NOMEM;

    if (ones != NULL) {
        memset(ones, 0xff, buf->nbytes);
        status = mpi_unpack(buf, ones, rebase(buf, image));
    }
    cx_free(ones);
    return status;
}

size_t cx_buffer_next_run(const unsigned char *mask, size_t span, size_t *at)
{
    const unsigned char *start, *end;

    if (*at >= span)
        return 0;
    start = memchr(mask + *at, 0xff, span - *at);
    if (start == NULL)
        return 0;
    *at = (size_t)(start - mask);
    end = memchr(start, 0, span - *at);
    return end != NULL ? (size_t)(end - start) : span - *at;
}

/* Copies the masked bytes of `host` to the device: equal runs at one distance
 * go as one 2D copy, so that a vector type is one call and not a million. */
static enum cx_status scatter(const struct cx_buffer *buf,
                              const unsigned char *mask, const char *host)
{
    char *device = cx_buffer_first_byte(buf);
    size_t at = 0, width = cx_buffer_next_run(mask, buf->span, &at);
    enum cx_status status = CX_OK;

    while (width > 0 && status == CX_OK) {
        size_t first = at, rows = 1, pitch = width, next_width;

        for (at += width;; at += width, rows++) {
            next_width = cx_buffer_next_run(mask, buf->span, &at);
            if (rows == 1)
                pitch = at - first;
            if (next_width != width || at != first + rows * pitch)
                break;
        }
        status = cx_buffer_mem_copy2d(&buf->mem, 0, device + first, pitch,
                                      host + first, pitch, width, rows);
        width = next_width;
    }
    return status;
}

enum cx_status cx_buffer_copy_image(const struct cx_buffer *buf, char *image,
                                    int to_host)
{
    struct cx_sparse sparse;
    enum cx_status status = cx_sparse_open(&sparse, buf);

    if (status != CX_OK)
        return status;
    status = cx_sparse_copy(&sparse, buf, image, to_host);
    cx_sparse_close(&sparse);
    return status;
}

enum cx_status cx_buffer_write_back(const struct cx_buffer *buf,
                                    const char *host)
{
    unsigned char *mask;
    enum cx_status status;

    if (buf->mem.kind == CX_MEM_MIXED) /* the image is only read */
        return cx_buffer_copy_image(buf, (char *)(uintptr_t)host, 0);
    if (buf->dense)
        return cx_buffer_mem_copy(&buf->mem, 0, cx_buffer_first_byte(buf), host,
                                  buf->span);
    mask = cx_alloc(buf->span, 1);
    if (mask == NULL)
        return CX_ERR_NOMEM;
    status = cx_buffer_mark(buf, mask);
    if (status == CX_OK)
        status = scatter(buf, mask, host);
    cx_free(mask);
    return status;
}

enum cx_status cx_buffer_pack(const struct cx_buffer *buf, void *packed)
{
    struct cx_mirror mirror;
    enum cx_status status = cx_mirror_open(&mirror, buf, 1);

    if (status == CX_OK && buf->nbytes > 0)
        status = mpi_pack(buf, mirror.addr, packed);
    if (cx_mirror_close(&mirror, buf, 0) != CX_OK && status == CX_OK)
        status = CX_ERR_GPU;
    return status;
}

enum cx_status cx_buffer_unpack(const struct cx_buffer *buf, const void *packed)
{
    struct cx_mirror mirror;
    enum cx_status status = cx_mirror_open(&mirror, buf, 0), closed;

    if (status == CX_OK && buf->nbytes > 0)
        status = mpi_unpack(buf, packed, mirror.addr);
    closed = cx_mirror_close(&mirror, buf, status == CX_OK);
    return status != CX_OK ? status : closed;
}

static enum cx_status open_sparse(struct cx_mirror *mirror,
                                  const struct cx_buffer *buf, int copy_in)
{
    struct cx_sparse *sparse = cx_alloc(1, sizeof(*sparse));
    enum cx_status status;

    if (sparse == NULL)
        return CX_ERR_NOMEM;
    status = cx_sparse_open(sparse, buf);
    if (status == CX_OK && copy_in) {
        status = cx_sparse_copy(sparse, buf, sparse->image, 1);
        if (status != CX_OK)
            cx_sparse_close(sparse);
    }
    if (status != CX_OK) {
        cx_free(sparse);
        return status;
    }
    mirror->sparse = sparse;
    mirror->addr = rebase(buf, sparse->image);
    return CX_OK;
}

enum cx_status cx_mirror_open(struct cx_mirror *mirror,
                              const struct cx_buffer *buf, int copy_in)
{
    enum cx_status status = CX_OK;

    *mirror = (struct cx_mirror){.addr = buf->addr};
    if (buf->nbytes == 0 || !cx_mem_on_gpu(&buf->mem))
        return CX_OK;
    mirror->addr = NULL;
    if (buf->mem.kind == CX_MEM_MIXED)
        return open_sparse(mirror, buf, copy_in);
    mirror->host = cx_alloc(buf->span, 1);
    if (mirror->host == NULL)
        return CX_ERR_NOMEM;
    if (copy_in)
        status = cx_buffer_mem_copy(&buf->mem, 1, mirror->host,
                                    cx_buffer_first_byte(buf), buf->span);
    mirror->addr = rebase(buf, mirror->host);
    return status;
}

enum cx_status cx_mirror_close(struct cx_mirror *mirror,
                               const struct cx_buffer *buf, int copy_out)
{
    enum cx_status status = CX_OK;

    if (mirror->sparse != NULL) {
        if (copy_out)
            status =
                cx_sparse_copy(mirror->sparse, buf, mirror->sparse->image, 0);
        cx_sparse_close(mirror->sparse);
        cx_free(mirror->sparse);
        mirror->sparse = NULL;
        return status;
    }
    if (mirror->host != NULL && copy_out)
        status = cx_buffer_write_back(buf, mirror->host);
    cx_free(mirror->host);
    mirror->host = NULL;
    return status;
}
