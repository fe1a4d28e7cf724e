/* SPDX-License-Identifier: BSD-3-Clause */
/* errors.c - names and texts of errors. Pure, so they work always. */
#include "cuda_api.h"

#include <stddef.h>

static const struct row {
    int number;
    const char *name;
    const char *text;
} rows[] = {
#define SIM_ERROR(number, driver, runtime, text)                               \
    {number, number == 0 ? "CUDA_" #driver : "CUDA_ERROR_" #driver, text},
#include "simgpu/errors.def"
#undef SIM_ERROR
};

/* 21, 35 and 98 are errors of the runtime library only. */
static const struct row *find(CUresult error)
{
    int number = (int)error;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].number == number && number != 21 && number != 35 &&
            number != 98)
            return &rows[i];
    return NULL;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **pStr)
{
    const struct row *row = find(error);
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = row != NULL ? row->text : NULL;
    return row != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **pStr)
{
    const struct row *row = find(error);
    if (pStr == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = row != NULL ? row->name : NULL;
    return row != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
