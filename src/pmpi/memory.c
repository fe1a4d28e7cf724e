/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - what memory a pointer is, and copies, for staging: the engine's
 * services; or, on a rank whose engine is missing, those of plain.c. */
#include "pmpi/front.h"

#include <string.h>

enum cx_status cx_buffer_mem_query(const void *addr, size_t nbytes,
                                   struct cx_mem *out)
{
    const struct cx_engine_api *engine = cx_engine();

    return engine != NULL ? engine->mem_query(addr, nbytes, out)
                          : cx_plain_query(addr, nbytes, out);
}

enum cx_status cx_buffer_mem_piece(const void *addr, size_t nbytes,
                                   struct cx_mem *out, size_t *n)
{
    const struct cx_engine_api *engine = cx_engine();

    return engine != NULL ? engine->mem_piece(addr, nbytes, out, n)
                          : cx_plain_piece(addr, nbytes, out, n);
}

enum cx_status cx_buffer_mem_copy2d(const struct cx_mem *mem, int to_host,
                                    void *dst, size_t dpitch, const void *src,
                                    size_t spitch, size_t width, size_t rows)
{
    const struct cx_engine_api *engine = cx_engine();
    size_t row;

    if (!cx_mem_on_gpu(mem)) { /* one block of several, with holes */
        for (row = 0; row < rows; row++)
            memcpy((char *)dst + row * dpitch, (const char *)src + row * spitch,
                   width);
        return CX_OK;
    }
    if (engine == NULL)
        return cx_plain_copy2d(mem, to_host, dst, dpitch, src, spitch, width,
                               rows);
    return engine->mem_copy2d(mem, to_host, dst, dpitch, src, spitch, width,
                              rows);
}

enum cx_status cx_buffer_mem_copy(const struct cx_mem *mem, int to_host,
                                  void *dst, const void *src, size_t nbytes)
{
    return cx_buffer_mem_copy2d(mem, to_host, dst, nbytes, src, nbytes, nbytes,
                                1);
}
