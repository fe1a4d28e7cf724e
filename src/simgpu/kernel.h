/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.h - kernels as host code, for the simulated GPU.
 *
 * The same source is a kernel for nvcc and, with a C or C++ compiler and
 * -shared -fPIC, a library that the stand-in takes for the image of a module.
 * A kernel is an ordinary __global__ function, followed by one line that names
 * it and the types of its parameters:
 *
 *     __global__ void axpy(int n, float a, const float *x, float *y)
 *     {
 *         int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
 *         if (i < n)
 *             y[i] += a * x[i];
 *     }
 *     SIMGPU_KERNEL(axpy, int, float, const float *, float *)
 *
 * What host code cannot be has a macro for both compilers: SIMGPU_C for C
 * linkage, SIMGPU_DYNAMIC_SHARED(type, name) in place of extern __shared__,
 * SIMGPU_GLOBAL(name) for a __device__ variable that the program asks for.
 *
 * Limits: the blocks of a launch run one after the other, so a kernel whose
 * blocks wait for each other hangs; the threads of a block run in turn and
 * change only at __syncthreads, so one that waits for another in a loop hangs
 * too; no warp functions, textures, cooperative groups, printf or malloc; up to
 * 12 parameters; 64 KiB of local variables a thread. Pointers work where they
 * come from a parameter, also inside of a struct, not where they are read from
 * device memory. */
#ifndef SIMGPU_KERNEL_H
#define SIMGPU_KERNEL_H

#if defined(__cplusplus)
#define SIMGPU_C extern "C"
#else
#define SIMGPU_C
#endif

#if defined(__CUDACC__)

#define SIMGPU_KERNEL(...)
#define SIMGPU_KERNEL0(fn)
#define SIMGPU_GLOBAL(name)
#define SIMGPU_DYNAMIC_SHARED(type, name) extern __shared__ type name[]

#else

#include "twin.h"

#if defined(__cplusplus)
#define SIMGPU_THREAD thread_local
#define SIMGPU_ALIGNOF(T) alignof(T)
#else
#define SIMGPU_THREAD _Thread_local
#define SIMGPU_ALIGNOF(T) _Alignof(T)
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* The linker makes these of the sections; there may be none. */
extern const struct simgpu_kernel *const __start_simgpu_kernels[]
    __attribute__((weak, visibility("hidden")));
extern const struct simgpu_kernel *const __stop_simgpu_kernels[]
    __attribute__((weak, visibility("hidden")));
extern const struct simgpu_global *const __start_simgpu_globals[]
    __attribute__((weak, visibility("hidden")));
extern const struct simgpu_global *const __stop_simgpu_globals[]
    __attribute__((weak, visibility("hidden")));

/* Weak: each file of a library brings them, one is kept. */
__attribute__((weak, visibility("hidden")))
SIMGPU_THREAD struct simgpu_env *simgpu_env;

__attribute__((weak, visibility("hidden"))) void
simgpu_set_env(struct simgpu_env *env)
{
    simgpu_env = env;
}

__attribute__((weak, visibility("default"))) const struct simgpu_twin *
simgpu_twin(void)
{
    static struct simgpu_twin twin;
    twin.version = SIMGPU_TWIN_VERSION;
    twin.kernels = __start_simgpu_kernels;
    twin.kernels_end = __stop_simgpu_kernels;
    twin.globals = __start_simgpu_globals;
    twin.globals_end = __stop_simgpu_globals;
    twin.set_env = simgpu_set_env;
    return &twin;
}

#if defined(__cplusplus)
}
#endif

#define __global__ __attribute__((visibility("default")))
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static SIMGPU_THREAD

#define threadIdx (simgpu_env->thread_idx)
#define blockIdx (simgpu_env->block_idx)
#define blockDim (simgpu_env->block)
#define gridDim (simgpu_env->grid)
#define __syncthreads() simgpu_env->barrier(simgpu_env)
#define __trap() __builtin_trap()
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_system() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define SIMGPU_DYNAMIC_SHARED(type, name)                                      \
    type *name = (type *)simgpu_env->shared

#define SIMGPU_SECTION(name) __attribute__((section(name), used))

/* The argument number i of a call, and its row in the table; 5 is the class of
 * pointers in gcc and clang. */
#define SIMGPU_ARG(i, T) *(T *)args[i]
#define SIMGPU_PARAM(i, T)                                                     \
    {                                                                          \
        sizeof(T), SIMGPU_ALIGNOF(T),                                          \
            __builtin_classify_type(*(T *)0) == 5 ? 1u : 0u                    \
    }

#define SIMGPU_1(m, a) m(0, a)
#define SIMGPU_2(m, a, b) SIMGPU_1(m, a), m(1, b)
#define SIMGPU_3(m, a, b, c) SIMGPU_2(m, a, b), m(2, c)
#define SIMGPU_4(m, a, b, c, d) SIMGPU_3(m, a, b, c), m(3, d)
#define SIMGPU_5(m, a, b, c, d, e) SIMGPU_4(m, a, b, c, d), m(4, e)
#define SIMGPU_6(m, a, b, c, d, e, f) SIMGPU_5(m, a, b, c, d, e), m(5, f)
#define SIMGPU_7(m, a, b, c, d, e, f, g) SIMGPU_6(m, a, b, c, d, e, f), m(6, g)
#define SIMGPU_8(m, a, b, c, d, e, f, g, h)                                    \
    SIMGPU_7(m, a, b, c, d, e, f, g), m(7, h)
#define SIMGPU_9(m, a, b, c, d, e, f, g, h, i)                                 \
    SIMGPU_8(m, a, b, c, d, e, f, g, h), m(8, i)
#define SIMGPU_10(m, a, b, c, d, e, f, g, h, i, j)                             \
    SIMGPU_9(m, a, b, c, d, e, f, g, h, i), m(9, j)
#define SIMGPU_11(m, a, b, c, d, e, f, g, h, i, j, k)                          \
    SIMGPU_10(m, a, b, c, d, e, f, g, h, i, j), m(10, k)
#define SIMGPU_12(m, a, b, c, d, e, f, g, h, i, j, k, l)                       \
    SIMGPU_11(m, a, b, c, d, e, f, g, h, i, j, k), m(11, l)
#define SIMGPU_PICK(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) SIMGPU_##n
#define SIMGPU_EACH(m, ...)                                                    \
    SIMGPU_PICK(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)         \
    (m, __VA_ARGS__)

#define SIMGPU_ROW(fn, params, n)                                              \
    static const struct simgpu_kernel simgpu_row_##fn = {                      \
        #fn, (void *)(uintptr_t)fn, simgpu_call_##fn, params, n};              \
    static const struct simgpu_kernel *const simgpu_at_##fn SIMGPU_SECTION(    \
        "simgpu_kernels") = &simgpu_row_##fn;

#define SIMGPU_KERNEL(fn, ...)                                                 \
    static void simgpu_call_##fn(void **args)                                  \
    {                                                                          \
        fn(SIMGPU_EACH(SIMGPU_ARG, __VA_ARGS__));                              \
    }                                                                          \
    static const struct simgpu_param simgpu_params_##fn[] = {                  \
        SIMGPU_EACH(SIMGPU_PARAM, __VA_ARGS__)};                               \
    SIMGPU_ROW(fn, simgpu_params_##fn,                                         \
               sizeof(simgpu_params_##fn) / sizeof(simgpu_params_##fn[0]))

#define SIMGPU_KERNEL0(fn)                                                     \
    static void simgpu_call_##fn(void **args)                                  \
    {                                                                          \
        (void)args;                                                            \
        fn();                                                                  \
    }                                                                          \
    SIMGPU_ROW(fn, NULL, 0)

#define SIMGPU_GLOBAL(name)                                                    \
    static const struct simgpu_global simgpu_global_##name = {                 \
        #name, (void *)&name, sizeof(name)};                                   \
    static const struct simgpu_global *const simgpu_global_at_##name           \
        SIMGPU_SECTION("simgpu_globals") = &simgpu_global_##name;

#endif

#endif
