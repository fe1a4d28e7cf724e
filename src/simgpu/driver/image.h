/* SPDX-License-Identifier: BSD-3-Clause */
/* image.h - host code for kernels, as images of modules. */
#ifndef SIM_IMAGE_H
#define SIM_IMAGE_H

#include "sim.h"
#include "simgpu/twin.h"

/* A library of kernels: an instance of its own, also of the same file. */
struct sim_lib {
    void *handle;
    const struct simgpu_twin *twin;
};

enum sim_image {
    SIM_IMAGE_NONE, /* no image of any kind that is known */
    SIM_IMAGE_HOST, /* a shared library of the host */
    SIM_IMAGE_CUDA  /* code for a GPU: fat binary, cubin or PTX */
};

enum sim_image sim_image_kind(const void *image);
/* The library at image, whose size its own header tells. */
CUresult sim_image_load(const void *image, struct sim_lib *out);
CUresult sim_image_load_file(const char *path, struct sim_lib *out);
void sim_image_unload(struct sim_lib *lib);
/* A copy, as far as it is needed to load it later; owned by the caller. NULL:
 * not an image, or out of memory. */
char *sim_image_copy(const void *image);
/* All of the file, and a 0 byte after it; owned by the caller. NULL: cannot be
 * read. */
char *sim_image_read(const char *path);

/* By the name of its symbol or as written in the source; NULL: not there. */
const struct simgpu_kernel *sim_image_kernel(const struct sim_lib *lib,
                                             const char *name);
const struct simgpu_global *sim_image_global(const struct sim_lib *lib,
                                             const char *name);

#endif
