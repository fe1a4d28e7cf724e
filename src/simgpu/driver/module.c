/* SPDX-License-Identifier: BSD-3-Clause */
/* module.c - see module.h. */
#include "module.h"

#include "library.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DYNAMIC 49152

static CUmodule modules;

CUmodule sim_module_check(CUmodule module)
{
    for (CUmodule m = modules; m != NULL; m = m->next)
        if (m == module)
            return m;
    return NULL;
}

/* Everything but the libraries. */
static CUmodule module_create(CUcontext ctx, size_t nlibs)
{
    CUmodule m = calloc(1, sizeof(*m));
    if (m == NULL)
        return NULL;
    m->libs = calloc(nlibs + 1, sizeof(m->libs[0]));
    if (m->libs == NULL) {
        free(m);
        return NULL;
    }
    m->ctx = ctx;
    m->next = modules;
    modules = m;
    return m;
}

static void module_free(CUmodule m)
{
    CUmodule *at = &modules;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    while (m->functions != NULL) {
        CUfunction f = m->functions;
        m->functions = f->next;
        free(f->name);
        free(f);
    }
    while (m->symbols != NULL) {
        struct sim_symbol *s = m->symbols;
        m->symbols = s->next;
        sim_mem_free(s->alloc);
        free(s);
    }
    for (size_t i = 0; i < m->nlibs; i++)
        sim_image_unload(&m->libs[i]);
    free(m->libs);
    free(m);
}

/* The libraries of SIMGPU_KERNELS, in their order. */
static CUresult load_promised(CUcontext ctx, CUmodule *out)
{
    const char *list = sim.config.kernels;
    size_t n = list[0] != '\0';
    for (const char *s = list; *s != '\0'; s++)
        n += *s == ':';
    CUmodule m = module_create(ctx, n);
    CUresult rc = CUDA_SUCCESS;
    if (m == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    m->promised = true;
    for (size_t i = 0; i < n && rc == CUDA_SUCCESS; i++) {
        char path[SIM_PATH_MAX];
        size_t len = strcspn(list, ":");
        memcpy(path, list, len);
        path[len] = '\0';
        list += len + (list[len] == ':');
        rc = sim_image_load_file(path, &m->libs[i]);
        if (rc == CUDA_SUCCESS)
            m->nlibs++;
        else
            fprintf(stderr,
                    "simgpu: SIMGPU_KERNELS: %s: no library of kernels\n",
                    path);
    }
    if (rc == CUDA_SUCCESS)
        *out = m;
    else
        module_free(m);
    return rc;
}

CUresult sim_module_load(CUcontext ctx, const void *image, CUmodule *out)
{
    enum sim_image kind = sim_image_kind(image);
    if (kind == SIM_IMAGE_CUDA)
        return load_promised(ctx, out);
    if (kind == SIM_IMAGE_NONE)
        return CUDA_ERROR_INVALID_IMAGE;
    CUmodule m = module_create(ctx, 1);
    if (m == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult rc = sim_image_load(image, &m->libs[0]);
    if (rc != CUDA_SUCCESS) {
        module_free(m);
        return rc;
    }
    m->nlibs = 1;
    *out = m;
    return CUDA_SUCCESS;
}

CUresult sim_module_load_file(CUcontext ctx, const char *path, CUmodule *out)
{
    char *bytes = sim_image_read(path);
    if (bytes == NULL)
        return CUDA_ERROR_FILE_NOT_FOUND;
    CUresult rc = sim_module_load(ctx, bytes, out);
    free(bytes);
    return rc;
}

void sim_module_unload(CUmodule module)
{
    sim_stream_drain_all();
    if (sim_module_check(module) != NULL)
        module_free(module);
}

void sim_module_unload_context(CUcontext ctx)
{
    CUmodule m = modules;
    while (m != NULL) {
        CUmodule next = m->next;
        if (m->ctx == ctx)
            module_free(m);
        m = next;
    }
}

CUmodule sim_module_of_library(CUlibrary library, CUcontext ctx)
{
    for (CUmodule m = modules; m != NULL; m = m->next)
        if (m->library == library && m->ctx == ctx)
            return m;
    return NULL;
}

void sim_module_unload_library(CUlibrary library)
{
    CUmodule m = modules;
    while (m != NULL) {
        CUmodule next = m->next;
        if (m->library == library)
            module_free(m);
        m = next;
    }
}

static CUresult not_there(CUmodule m, const char *name)
{
    if (!m->promised)
        return CUDA_ERROR_NOT_FOUND;
    fprintf(stderr,
            "simgpu: kernel %s: no host code for it: set SIMGPU_KERNELS to a "
            "library that simgpu/kernel.h made of its source\n",
            name);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

CUresult sim_module_function(CUmodule m, const char *name, CUfunction *out)
{
    for (CUfunction f = m->functions; f != NULL; f = f->next) {
        if (strcmp(f->name, name) == 0) {
            *out = f;
            return CUDA_SUCCESS;
        }
    }
    const struct simgpu_kernel *k = NULL;
    size_t i = 0;
    while (i < m->nlibs && k == NULL)
        k = sim_image_kernel(&m->libs[i++], name);
    if (k == NULL)
        return not_there(m, name);
    CUfunction f = calloc(1, sizeof(*f));
    char *copy = strdup(name);
    if (f == NULL || copy == NULL) {
        free(copy);
        free(f);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    f->module = m;
    f->kernel = k;
    f->twin = m->libs[i - 1].twin;
    f->name = copy;
    f->max_dynamic = MAX_DYNAMIC;
    f->next = m->functions;
    m->functions = f;
    *out = f;
    return CUDA_SUCCESS;
}

CUresult sim_module_symbol(CUmodule m, const char *name, struct sim_alloc **out)
{
    const struct simgpu_global *g = NULL;
    for (size_t i = 0; i < m->nlibs && g == NULL; i++)
        g = sim_image_global(&m->libs[i], name);
    if (g == NULL)
        return CUDA_ERROR_NOT_FOUND;
    for (struct sim_symbol *s = m->symbols; s != NULL; s = s->next) {
        if (s->global == g) {
            *out = s->alloc;
            return CUDA_SUCCESS;
        }
    }
    struct sim_symbol *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult rc = sim_mem_add_symbol(m->ctx, g->mem, g->size, &s->alloc);
    if (rc != CUDA_SUCCESS) {
        free(s);
        return rc;
    }
    s->global = g;
    s->next = m->symbols;
    m->symbols = s;
    *out = s->alloc;
    return CUDA_SUCCESS;
}

CUfunction sim_function_find(CUfunction handle, CUcontext ctx)
{
    CUfunction f = sim_library_function(handle, ctx);
    for (CUmodule m = modules; f == NULL && m != NULL; m = m->next)
        for (CUfunction g = m->functions; g != NULL; g = g->next)
            if (g == handle && m->ctx == ctx)
                f = g;
    return f;
}
