/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - what memory a pointer is, and copies, for staging: the engine's
 * services; or, on a rank whose engine is missing, a plain stand-in, so that
 * its device buffers still reach MPI instead of crashing it.
 *
 * The stand-in asks the driver that the program has loaded, by name, and knows
 * two kinds of memory and synchronous copies. It is slow and says nothing: that
 * the engine is missing has been said. */
#include "pmpi/front.h"

#include <dlfcn.h>
#include <string.h>

#include "base/log.h"

/* Of the driver API, by value: CUresult and pointers as the ABI passes them. */
typedef int (*get_attribute_fn)(void *, int, unsigned long long);
typedef int (*push_fn)(void *);
typedef int (*pop_fn)(void **);
typedef int (*memcpy_fn)(unsigned long long, unsigned long long, size_t);

enum { ATTRIBUTE_CONTEXT = 1, ATTRIBUTE_MEMORY_TYPE = 2, TYPE_DEVICE = 2 };

static struct {
    get_attribute_fn get_attribute;
    push_fn push;
    pop_fn pop;
    memcpy_fn copy;
} driver;

static cx_fn find(void *library, const char *name)
{
    union {
        void *object;
        cx_fn function;
    } symbol;

    symbol.object = dlsym(library, name);
    return symbol.function;
}

static int have_driver(void)
{
    void *library;

    if (driver.copy != NULL)
        return 1;
    library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return 0;
    driver.get_attribute =
        (get_attribute_fn)find(library, "cuPointerGetAttribute");
    driver.push = (push_fn)find(library, "cuCtxPushCurrent_v2");
    driver.pop = (pop_fn)find(library, "cuCtxPopCurrent_v2");
    driver.copy = (memcpy_fn)find(library, "cuMemcpy");
    return driver.get_attribute != NULL && driver.push != NULL &&
           driver.pop != NULL && driver.copy != NULL;
}

static enum cx_status plain_query(const void *addr, size_t nbytes,
                                  struct cx_mem *out)
{
    unsigned long long pointer = (unsigned long long)(uintptr_t)addr;
    unsigned type = 0;

    (void)nbytes;
    memset(out, 0, sizeof(*out));
    out->device = -1;
    if (!have_driver() ||
        driver.get_attribute(&type, ATTRIBUTE_MEMORY_TYPE, pointer) != 0 ||
        type != TYPE_DEVICE)
        return CX_OK;
    out->kind = CX_MEM_DEVICE;
    if (driver.get_attribute(&out->ctx, ATTRIBUTE_CONTEXT, pointer) != 0)
        out->ctx = NULL; /* then the current one must do */
    return CX_OK;
}

/* cuMemcpy is ordered after the legacy default stream, and complete on return
 * for host memory on either side. */
static enum cx_status plain_copy2d(const struct cx_mem *mem, int to_host,
                                   void *dst, size_t dpitch, const void *src,
                                   size_t spitch, size_t width, size_t rows)
{
    int rc = mem->ctx != NULL ? driver.push(mem->ctx) : 0;
    void *popped;
    size_t row;

    (void)to_host;
    for (row = 0; row < rows && rc == 0; row++)
        rc = driver.copy((uintptr_t)dst + row * dpitch,
                         (uintptr_t)src + row * spitch, width);
    if (mem->ctx != NULL)
        driver.pop(&popped);
    if (rc == 0)
        return CX_OK;
    cx_error("cuMemcpy of a buffer on a GPU failed: error %d", rc);
    return CX_ERR_GPU;
}

enum cx_status cx_buffer_mem_query(const void *addr, size_t nbytes,
                                   struct cx_mem *out)
{
    const struct cx_engine_api *engine = cx_engine();

    return engine != NULL ? engine->mem_query(addr, nbytes, out)
                          : plain_query(addr, nbytes, out);
}

enum cx_status cx_buffer_mem_copy2d(const struct cx_mem *mem, int to_host,
                                    void *dst, size_t dpitch, const void *src,
                                    size_t spitch, size_t width, size_t rows)
{
    const struct cx_engine_api *engine = cx_engine();

    if (engine == NULL)
        return plain_copy2d(mem, to_host, dst, dpitch, src, spitch, width,
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
