/* SPDX-License-Identifier: BSD-3-Clause */
/* buffer.c - a choice buffer of any type on any memory: where it lies, and its
 * bytes to and from packed host memory.
 *
 * Types are never taken apart: MPI packs and unpacks. What a type does not
 * describe (holes) must not be written on the device, where a kernel may be
 * using it; which bytes those are is learnt by unpacking 0xff into zeros. */
#include "pmpi/front.h"

#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"

enum cx_status cx_buffer_init(struct cx_buffer *buf, const void *addr,
                              MPI_Count count, MPI_Datatype type)
{
    ptrdiff_t last;

    memset(buf, 0, sizeof(*buf));
    buf->addr = (void *)(uintptr_t)addr;
    buf->count = count;
    buf->type = type;
    if (cx_mpi.Type_size_x(type, &buf->size) != MPI_SUCCESS ||
        cx_mpi.Type_get_extent_x(type, &buf->lb, &buf->extent) != MPI_SUCCESS ||
        cx_mpi.Type_get_true_extent_x(type, &buf->true_lb, &buf->true_extent) !=
            MPI_SUCCESS)
        return CX_ERR_MPI;
    if (cx_mul((size_t)count, (size_t)buf->size, &buf->nbytes) != CX_OK)
        return CX_ERR_ARG;
    buf->dense = cx_type_basic(type) && buf->size == buf->extent;
    if (buf->nbytes == 0)
        return CX_OK;
    last = (ptrdiff_t)((count - 1) * buf->extent); /* may be negative */
    buf->low = (ptrdiff_t)buf->true_lb + (last < 0 ? last : 0);
    buf->span = (size_t)buf->true_extent + (size_t)(last < 0 ? -last : last);
    return CX_OK;
}

static char *first_byte(const struct cx_buffer *buf)
{
    /* MPI_BOTTOM is a null address: unsigned arithmetic keeps that defined. */
    return (char *)((uintptr_t)buf->addr + (uintptr_t)buf->low);
}

enum cx_status cx_buffer_query(struct cx_buffer *buf)
{
    const struct cx_engine_api *engine;

    memset(&buf->mem, 0, sizeof(buf->mem));
    buf->mem.device = -1;
    if (buf->nbytes == 0 || !cx_front_libcuda())
        return CX_OK;
    engine = cx_engine();
    if (engine == NULL)
        return CX_OK; /* said when it could not be loaded */
    return engine->mem_query(first_byte(buf), buf->span, &buf->mem);
}

/* MPI_Pack or MPI_Unpack of host memory, of any count. */
static enum cx_status mpi_pack(const struct cx_buffer *buf, const void *from,
                               void *packed)
{
    int position = 0, rc;
    MPI_Count wide = 0;

    if (buf->nbytes <= INT_MAX && buf->count <= INT_MAX) {
        rc = cx_mpi.Pack(from, (int)buf->count, buf->type, packed,
                         (int)buf->nbytes, &position, MPI_COMM_SELF);
        wide = position;
    } else if (cx_mpi.Pack_c != NULL) {
        rc = cx_mpi.Pack_c(from, buf->count, buf->type, packed,
                           (MPI_Count)buf->nbytes, &wide, MPI_COMM_SELF);
    } else {
        return CX_ERR_MPI;
    }
    return rc == MPI_SUCCESS && (size_t)wide == buf->nbytes ? CX_OK
                                                            : CX_ERR_MPI;
}

static enum cx_status mpi_unpack(const struct cx_buffer *buf,
                                 const void *packed, void *to)
{
    int position = 0, rc;
    MPI_Count wide = 0;

    if (buf->nbytes <= INT_MAX && buf->count <= INT_MAX)
        rc = cx_mpi.Unpack(packed, (int)buf->nbytes, &position, to,
                           (int)buf->count, buf->type, MPI_COMM_SELF);
    else if (cx_mpi.Unpack_c != NULL)
        rc = cx_mpi.Unpack_c(packed, (MPI_Count)buf->nbytes, &wide, to,
                             buf->count, buf->type, MPI_COMM_SELF);
    else
        return CX_ERR_MPI;
    return rc == MPI_SUCCESS ? CX_OK : CX_ERR_MPI;
}

/* The address to give MPI so that the first byte touched is `host`. */
static void *rebase(const struct cx_buffer *buf, void *host)
{
    return (void *)((uintptr_t)host - (uintptr_t)buf->low);
}

/* Which bytes of the span does the type describe? Owned by the caller. */
static enum cx_status make_mask(const struct cx_buffer *buf,
                                unsigned char **out)
{
    unsigned char *ones = cx_alloc(buf->nbytes, 1);
    unsigned char *mask = cx_alloc(buf->span, 1);
    enum cx_status status = CX_ERR_NOMEM;

    if (ones != NULL && mask != NULL) {
        memset(ones, 0xff, buf->nbytes);
        status = mpi_unpack(buf, ones, rebase(buf, mask));
    }
    cx_free(ones);
    if (status == CX_OK)
        *out = mask;
    else
        cx_free(mask);
    return status;
}

/* The next run of described bytes at or after `at`; 0 when there is none. */
static size_t next_run(const unsigned char *mask, size_t span, size_t *at)
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
    const struct cx_engine_api *engine = cx_engine();
    char *device = first_byte(buf);
    size_t at = 0, width = next_run(mask, buf->span, &at);
    enum cx_status status = CX_OK;

    while (width > 0 && status == CX_OK) {
        size_t first = at, rows = 1, pitch = width, next_width;

        for (at += width;; at += width, rows++) {
            next_width = next_run(mask, buf->span, &at);
            if (rows == 1)
                pitch = at - first;
            if (next_width != width || at != first + rows * pitch)
                break;
        }
        status = engine->mem_copy2d(&buf->mem, 0, device + first, pitch,
                                    host + first, pitch, width, rows);
        width = next_width;
    }
    return status;
}

/* Brings a whole host image of the span to the device, holes excepted. */
static enum cx_status write_back(const struct cx_buffer *buf, const char *host)
{
    unsigned char *mask;
    enum cx_status status;

    if (buf->dense)
        return cx_engine()->mem_copy(&buf->mem, 0, first_byte(buf), host,
                                     buf->span);
    status = make_mask(buf, &mask);
    if (status != CX_OK)
        return status;
    status = scatter(buf, mask, host);
    cx_free(mask);
    return status;
}

enum cx_status cx_buffer_pack(const struct cx_buffer *buf, void *packed)
{
    enum cx_status status;
    void *host;

    if (buf->nbytes == 0)
        return CX_OK;
    if (!cx_mem_on_gpu(&buf->mem))
        return mpi_pack(buf, buf->addr, packed);
    host = cx_alloc(buf->span, 1);
    if (host == NULL)
        return CX_ERR_NOMEM;
    status =
        cx_engine()->mem_copy(&buf->mem, 1, host, first_byte(buf), buf->span);
    if (status == CX_OK)
        status = mpi_pack(buf, rebase(buf, host), packed);
    cx_free(host);
    return status;
}

enum cx_status cx_buffer_unpack(const struct cx_buffer *buf, const void *packed)
{
    enum cx_status status;
    void *host;

    if (buf->nbytes == 0)
        return CX_OK;
    if (!cx_mem_on_gpu(&buf->mem))
        return mpi_unpack(buf, packed, buf->addr);
    host = cx_alloc(buf->span, 1);
    if (host == NULL)
        return CX_ERR_NOMEM;
    status = mpi_unpack(buf, packed, rebase(buf, host));
    if (status == CX_OK)
        status = write_back(buf, host);
    cx_free(host);
    return status;
}

enum cx_status cx_mirror_open(struct cx_mirror *mirror,
                              const struct cx_buffer *buf, int copy_in)
{
    enum cx_status status = CX_OK;

    mirror->host = NULL;
    mirror->addr = buf->addr;
    if (buf->nbytes == 0 || !cx_mem_on_gpu(&buf->mem))
        return CX_OK;
    mirror->host = cx_alloc(buf->span, 1);
    mirror->addr = NULL;
    if (mirror->host == NULL)
        return CX_ERR_NOMEM;
    if (copy_in)
        status = cx_engine()->mem_copy(&buf->mem, 1, mirror->host,
                                       first_byte(buf), buf->span);
    mirror->addr = rebase(buf, mirror->host);
    return status;
}

enum cx_status cx_mirror_close(struct cx_mirror *mirror,
                               const struct cx_buffer *buf, int copy_out)
{
    enum cx_status status = CX_OK;

    if (mirror->host != NULL && copy_out)
        status = write_back(buf, mirror->host);
    cx_free(mirror->host);
    mirror->host = NULL;
    return status;
}
