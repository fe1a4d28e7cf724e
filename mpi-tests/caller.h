/* SPDX-License-Identifier: BSD-3-Clause */
/* caller.h - which library does a code address lie in? For preloads that treat
 * the calls of Coax apart from those of MPI and of the program. */
#ifndef CALLER_H
#define CALLER_H

enum mt_caller { MT_CALLER_OTHER, MT_CALLER_FRONT, MT_CALLER_ENGINE };

/* Looks an object up once; after that a few compares. */
enum mt_caller mt_caller_of(const void *address);

#endif
