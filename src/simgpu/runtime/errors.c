/* SPDX-License-Identifier: BSD-3-Clause */
/* errors.c - names and texts of the runtime's errors. */
#include "rt.h"

static const struct row {
    int number;
    const char *name;
    const char *text;
} rows[] = {
#define SIM_ERROR(number, driver, runtime, text)                               \
    {number, number == 0 ? "cuda" #runtime : "cudaError" #runtime, text},
#include "simgpu/errors.def"
#undef SIM_ERROR
    {9, "cudaErrorInvalidConfiguration", "no such shape of grid or block"},
    {12, "cudaErrorInvalidPitchValue", "the pitch is less than a row"},
    {13, "cudaErrorInvalidSymbol", "not a variable of this program"},
    {52, "cudaErrorMissingConfiguration", "a launch that was not begun"},
};

static const struct row *find(cudaError_t error)
{
    static const struct row unknown = {0, "unrecognised error",
                                       "no such error"};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].number == (int)error)
            return &rows[i];
    return &unknown;
}

const char *CUDARTAPI cudaGetErrorName(cudaError_t error)
{
    return find(error)->name;
}

const char *CUDARTAPI cudaGetErrorString(cudaError_t error)
{
    return find(error)->text;
}
