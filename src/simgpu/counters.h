/* SPDX-License-Identifier: BSD-3-Clause */
/* counters.h - what the simulated GPU counts, and how a test reads and steers
 * it while the program runs.
 *
 * The same block is reached in two ways: as a file (SIMGPU_COUNTERS=path,
 * updated live, readable by any process), or inside the process through
 * cuGetExportTable() with SIMGPU_CONTROL_UUID, which fills in a pointer to a
 * struct simgpu_control. Words are written with relaxed atomics: each is
 * right on its own, two of them are not a snapshot. */
#ifndef SIMGPU_COUNTERS_H
#define SIMGPU_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

#define SIMGPU_COUNTERS_MAGIC "SIMGPUC1"
#define SIMGPU_FN_MAX 512
#define SIMGPU_FN_NAME 48

/* Kinds of copy; managed memory and imported memory count as device memory,
 * pinned and pageable memory as host memory. P2P is between two devices. */
enum simgpu_copy_kind {
    SIMGPU_H2H,
    SIMGPU_H2D,
    SIMGPU_D2H,
    SIMGPU_D2D,
    SIMGPU_P2P,
    SIMGPU_MEMSET,
    SIMGPU_KINDS
};

struct simgpu_fn_counter {
    char name[SIMGPU_FN_NAME]; /* as in functions.def, ends with a 0 byte */
    uint64_t calls;            /* made by the program */
    uint64_t faults;           /* of these, refused by SIMGPU_FAIL */
};

struct simgpu_counters {
    char magic[8]; /* SIMGPU_COUNTERS_MAGIC, no 0 byte */
    uint32_t size; /* bytes of this struct */
    uint32_t nfns; /* rows in use of fn[] */
    int64_t pid;
    uint64_t copies[SIMGPU_KINDS]; /* requests that were accepted */
    uint64_t bytes[SIMGPU_KINDS];
    uint64_t peer_staged;   /* of these, between devices without peer access */
    uint64_t copies_2d;     /* of these, with more than one row */
    uint64_t contexts_made; /* primary contexts activated, others created */
    uint64_t allocs;        /* device allocations */
    uint64_t frees;
    uint64_t device_bytes; /* in use now, all devices, pinned by peers too */
    uint64_t device_bytes_peak;
    uint64_t ipc_exports; /* handles given out */
    uint64_t ipc_opens;   /* mappings made; a repeated open is not one */
    uint64_t ipc_closes;  /* mappings undone */
    uint64_t vmm_maps;    /* mappings into reserved ranges */
    uint64_t vmm_unmaps;
    uint64_t pool_allocs;  /* of allocs, those of memory pools */
    uint64_t order_errors; /* uses of pool memory out of stream order */
    uint64_t streams_live;
    uint64_t events_live;
    uint64_t kernels;       /* launches that were accepted */
    uint64_t kernel_faults; /* kernels that did not come to their end */
    uint64_t graph_launches;
    uint64_t captures_broken; /* invalidated */
    struct simgpu_fn_counter fn[SIMGPU_FN_MAX];
};

/* What cuGetExportTable() gives for SIMGPU_CONTROL_UUID. All functions may be
 * called from any thread at any time, before cuInit too. */
struct simgpu_control {
    size_t size; /* bytes of this struct; later versions only append */
    struct simgpu_counters *counters; /* never freed, may be zeroed */
    /* Replaces all faults by those of spec, in the syntax of SIMGPU_FAIL;
     * call numbers count from now. NULL removes all. 0, or -1 with a line on
     * stderr and the old faults kept. */
    int (*set_faults)(const char *spec);
    /* Replaces SIMGPU_DELAY_US by a number for all work. */
    void (*set_delay_us)(unsigned delay_us);
    /* For the runtime library only: one call begins of the function with this
     * row in fn[]; returns 0 or the error with which it is to be refused.
     * leave() must follow in both cases. */
    int (*enter)(int fn);
    void (*leave)(void);
    /* Replaces SIMGPU_DELAY_US, in its syntax; 0, or -1 with nothing done. */
    int (*set_delays)(const char *spec);
    /* Sets the delay of one stream, whose handle is good in the current
     * context; 0, or the error. */
    int (*set_stream_delay)(void *stream, unsigned delay_us);
};

#define SIMGPU_CONTROL_UUID                                                    \
    {                                                                          \
        {                                                                      \
            'c', 'o', 'a', 'x', '-', 's', 'i', 'm', 'g', 'p', 'u', '-', 'c',   \
                't', 'l', '1'                                                  \
        }                                                                      \
    }

#endif
