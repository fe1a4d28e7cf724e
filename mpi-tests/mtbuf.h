/* SPDX-License-Identifier: BSD-3-Clause */
/* mtbuf.h - buffers in host or device memory with guard bytes round them, and
 * the few CUDA calls that the tests make.
 *
 * CUDA is loaded by dlopen, on request: a program that never asks for device
 * memory never maps it. The same binary runs on the stand-in and on a GPU. */
#ifndef MTBUF_H
#define MTBUF_H

#include <stddef.h>

/* MAPPED lies across two chunks of virtual memory, of one device or, MAPPED2,
 * of two; of REGISTERED only the first page is pinned. */
enum mt_kind {
    MT_HOST,
    MT_DEVICE,
    MT_PINNED,
    MT_MANAGED,
    MT_REGISTERED,
    MT_POOL,
    MT_MAPPED,
    MT_MAPPED2,
    MT_NKINDS
};

struct mt_cuda {
    int (*Malloc)(void **ptr, size_t nbytes);
    int (*MallocManaged)(void **ptr, size_t nbytes, unsigned flags);
    int (*MallocHost)(void **ptr, size_t nbytes);
    int (*Free)(void *ptr);
    int (*FreeHost)(void *ptr);
    int (*Memcpy)(void *dst, const void *src, size_t nbytes, int kind);
    int (*MemcpyAsync)(void *dst, const void *src, size_t nbytes, int kind,
                       void *stream);
    int (*Memset)(void *dst, int byte, size_t nbytes);
    int (*DeviceSynchronize)(void);
    int (*GetDeviceCount)(int *count);
    int (*GetDevice)(int *device);
    int (*SetDevice)(int device);
    int (*DeviceReset)(void);
    int (*StreamCreateWithFlags)(void **stream, unsigned flags);
    int (*StreamSynchronize)(void *stream);
    int (*StreamDestroy)(void *stream);
    /* driver API */
    int (*CtxGetCurrent)(void **ctx);
    int (*CtxSetCurrent)(void *ctx);
};
extern struct mt_cuda cuda;

/* cudaMemcpyKind */
enum { MT_H2H, MT_H2D, MT_D2H, MT_D2D };

/* Loads the CUDA runtime and driver into `cuda`; ends the job when they are
 * missing. Idempotent. */
void mt_cuda_open(void);
/* Ends the job when a CUDA call did not return 0. */
void mt_cuda_ok(int rc, const char *what);

#define MT_GUARD 256

struct mt_buf {
    enum mt_kind kind;
    size_t cap;           /* bytes that fit from `ptr` on */
    unsigned char *alloc; /* owned */
    unsigned char *ptr;   /* inside the allocation, never its start */
    int device;           /* that it was made on */
    size_t mapped;        /* bytes of a mapping */
};

/* Room for `cap` bytes, `shift` bytes further into the allocation than the
 * guard alone asks for. */
void mt_buf_create(struct mt_buf *buf, enum mt_kind kind, size_t cap,
                   size_t shift);
/* On this device, whichever is current; the other is left current. */
void mt_buf_create_on(struct mt_buf *buf, enum mt_kind kind, int device,
                      size_t cap, size_t shift);
void mt_buf_destroy(struct mt_buf *buf);

/* Guards before and after [ptr, ptr + nbytes), and `fill` inside; a negative
 * fill leaves the inside as it is. */
void mt_buf_arm(struct mt_buf *buf, size_t nbytes, int fill);
/* 1 when both guards are as mt_buf_arm left them. */
int mt_buf_guarded(const struct mt_buf *buf, size_t nbytes);

void mt_buf_write(struct mt_buf *buf, size_t off, const void *src,
                  size_t nbytes);
void mt_buf_read(const struct mt_buf *buf, size_t off, void *dst,
                 size_t nbytes);
/* The first byte at which [off, off + nbytes) differs from `want`, or -1. */
long long mt_buf_differs(const struct mt_buf *buf, size_t off, const void *want,
                         size_t nbytes);

#endif
