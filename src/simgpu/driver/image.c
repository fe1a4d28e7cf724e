/* SPDX-License-Identifier: BSD-3-Clause */
/* image.c - see image.h. Each library is copied to a memfd before it is loaded:
 * the loader would give the same instance for the same file. */
#include "image.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FATBIN_MAGIC UINT32_C(0xba55ed50)
#define FATBIN_WRAPPER_MAGIC UINT32_C(0x466243b1)
#define ELF_MACHINE_CUDA 190
#define IMAGE_MAX ((size_t)1 << 30)

#if defined(__x86_64__)
#define ELF_MACHINE_HOST EM_X86_64
#elif defined(__aarch64__)
#define ELF_MACHINE_HOST EM_AARCH64
#elif defined(__powerpc64__)
#define ELF_MACHINE_HOST EM_PPC64
#else
#define ELF_MACHINE_HOST EM_NONE
#endif

enum sim_image sim_image_kind(const void *image)
{
    Elf64_Ehdr head;
    uint32_t magic;
    memcpy(&magic, image, sizeof(magic));
    if (magic == FATBIN_MAGIC || magic == FATBIN_WRAPPER_MAGIC)
        return SIM_IMAGE_CUDA;
    if (memcmp(image, ELFMAG, SELFMAG) != 0) {
        const char *text = image;
        size_t n = 0;
        while (n < 4096 && text[n] != '\0' && strncmp(text + n, ".version", 8))
            n++;
        return n < 4096 && text[n] != '\0' ? SIM_IMAGE_CUDA : SIM_IMAGE_NONE;
    }
    memcpy(&head, image, sizeof(head));
    if (head.e_machine == ELF_MACHINE_CUDA)
        return SIM_IMAGE_CUDA;
    return head.e_machine == ELF_MACHINE_HOST && head.e_type == ET_DYN
               ? SIM_IMAGE_HOST
               : SIM_IMAGE_NONE;
}

/* Linkers put the table of sections last. */
static size_t elf_size(const void *image)
{
    Elf64_Ehdr head;
    memcpy(&head, image, sizeof(head));
    size_t table = (size_t)head.e_shentsize * head.e_shnum;
    if (head.e_shoff > IMAGE_MAX)
        return 0;
    return head.e_shoff + table;
}

char *sim_image_copy(const void *image)
{
    enum sim_image kind = sim_image_kind(image);
    size_t size = kind == SIM_IMAGE_HOST ? elf_size(image) : 0;
    if (kind == SIM_IMAGE_NONE)
        return NULL;
    if (size < sizeof(Elf64_Ehdr)) {
        /* of a promise only its kind counts */
        static const uint32_t magic = FATBIN_MAGIC;
        char *promise = calloc(1, sizeof(Elf64_Ehdr));
        if (promise != NULL)
            memcpy(promise, &magic, sizeof(magic));
        return promise;
    }
    char *copy = malloc(size);
    if (copy != NULL)
        memcpy(copy, image, size);
    return copy;
}

static bool write_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t k = write(fd, p, n);
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* The loader takes a name that it has seen for the library that had it, and the
 * number of the descriptor comes again: so each name gets a number of "./". */
static void make_path(char *path, size_t size, int fd)
{
    static unsigned turn;
    unsigned n = turn++ % 64;
    int len = snprintf(path, size, "/proc/self/fd/");
    for (unsigned i = 0; i < n; i++)
        len += snprintf(path + len, size - (size_t)len, "./");
    snprintf(path + len, size - (size_t)len, "%d", fd);
}

static CUresult open_twin(int fd, struct sim_lib *out)
{
    const struct simgpu_twin *(*get)(void) = NULL;
    char path[256];
    make_path(path, sizeof(path), fd);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        fprintf(stderr, "simgpu: the image of a module cannot be loaded: %s\n",
                dlerror());
        return CUDA_ERROR_INVALID_IMAGE;
    }
    void *symbol = dlsym(handle, "simgpu_twin");
    memcpy(&get, &symbol, sizeof(get));
    const struct simgpu_twin *twin = get != NULL ? get() : NULL;
    if (twin == NULL || twin->version != SIMGPU_TWIN_VERSION) {
        dlclose(handle);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    out->handle = handle;
    out->twin = twin;
    return CUDA_SUCCESS;
}

CUresult sim_image_load(const void *image, struct sim_lib *out)
{
    size_t size = elf_size(image);
    if (size == 0)
        return CUDA_ERROR_INVALID_IMAGE;
    int fd = memfd_create("simgpu-module", MFD_CLOEXEC);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    CUresult rc = write_all(fd, image, size) ? open_twin(fd, out)
                                             : CUDA_ERROR_OPERATING_SYSTEM;
    close(fd);
    return rc;
}

char *sim_image_read(const char *path)
{
    struct stat st;
    char *bytes = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) != 0 || (size_t)st.st_size > IMAGE_MAX)
        goto out;
    size_t size = (size_t)st.st_size, got = 0;
    /* An image is looked at by its header before its size is known. */
    bytes = calloc(1, size + sizeof(Elf64_Ehdr) + 1);
    while (bytes != NULL && got < size) {
        ssize_t k = read(fd, bytes + got, size - got);
        if (k <= 0)
            break;
        got += (size_t)k;
    }
out:
    close(fd);
    return bytes;
}

CUresult sim_image_load_file(const char *path, struct sim_lib *out)
{
    char *bytes = sim_image_read(path);
    if (bytes == NULL)
        return errno == ENOENT ? CUDA_ERROR_FILE_NOT_FOUND
                               : CUDA_ERROR_OPERATING_SYSTEM;
    CUresult rc = sim_image_kind(bytes) == SIM_IMAGE_HOST
                      ? sim_image_load(bytes, out)
                      : CUDA_ERROR_INVALID_IMAGE;
    free(bytes);
    return rc;
}

void sim_image_unload(struct sim_lib *lib)
{
    dlclose(lib->handle);
    lib->handle = NULL;
    lib->twin = NULL;
}

static bool is_called(const struct simgpu_kernel *k, const char *name)
{
    Dl_info info;
    if (strcmp(k->name, name) == 0)
        return true;
    return dladdr(k->fn, &info) != 0 && info.dli_sname != NULL &&
           strcmp(info.dli_sname, name) == 0;
}

const struct simgpu_kernel *sim_image_kernel(const struct sim_lib *lib,
                                             const char *name)
{
    const struct simgpu_twin *t = lib->twin;
    for (const struct simgpu_kernel *const *k = t->kernels; k < t->kernels_end;
         k++)
        if (is_called(*k, name))
            return *k;
    return NULL;
}

const struct simgpu_global *sim_image_global(const struct sim_lib *lib,
                                             const char *name)
{
    const struct simgpu_twin *t = lib->twin;
    for (const struct simgpu_global *const *g = t->globals; g < t->globals_end;
         g++)
        if (strcmp((*g)->name, name) == 0)
            return *g;
    return NULL;
}
