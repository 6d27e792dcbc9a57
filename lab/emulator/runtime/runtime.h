/* The emulated node's own CUDA runtime: declarations that its files share.
 *
 * libcudart.so.12 and libcudart.so.13 are built from the same files, each with the headers of its
 * own major version. They use the public driver API only, and find it as any runtime does. No state
 * of the GPU is kept here: each call queries the driver.
 *
 * Every function returns a cudaError_t that answer() has recorded as the thread's last error.
 * Outputs are untouched on failure. */
#ifndef NVSHARE_RUNTIME_H
#define NVSHARE_RUNTIME_H

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>

#include "driver.h"
#include "error.h"

/* True while this thread is inside a call of the per-thread flavour (_ptsz, _ptds), in which stream
 * 0 is the thread's own. The generated functions of that flavour set it around the ordinary
 * ones. */
extern _Thread_local bool runtime_per_thread;

/* Some functions of CUDA 12 have a newer version under a suffix, which has the plain name in
 * CUDA 13: NEWEST(cudaMemAdvise, _v2) is that version. The older ones are in before_13.c. */
#if CUDART_VERSION >= 13000
#define NEWEST(name, suffix) name
#else
#define NEWEST(name, suffix) name##suffix
#endif

/* First line of a function that needs the driver, and no context. */
#define ENTER_DRIVER(name)                                                                         \
    const struct driver *name;                                                                     \
    do {                                                                                           \
        cudaError_t entered = driver_enter(&name);                                                 \
        if (__builtin_expect(entered != cudaSuccess, 0))                                           \
            return answer(entered);                                                                \
    } while (0)

/* First line of a function that works on the current device, in its context. */
#define ENTER(name)                                                                                \
    ENTER_DRIVER(name);                                                                            \
    do {                                                                                           \
        CUresult bound = context_bind(name);                                                       \
        if (__builtin_expect(bound != CUDA_SUCCESS, 0))                                            \
            return answer_driver(bound);                                                           \
    } while (0)

#define REQUIRE(condition, error)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return answer(error);                                                                  \
    } while (0)

/* The runtime function `name` is the driver function `call`, in the context of the current
 * device. */
#define FORWARD(name, parameters, call, arguments)                                                 \
    cudaError_t name parameters {                                                                  \
        ENTER(driver);                                                                             \
        return answer_driver(driver->call arguments);                                              \
    }

/* The same, for a function that needs no context. */
#define FORWARD_DRIVER(name, parameters, call, arguments)                                          \
    cudaError_t name parameters {                                                                  \
        ENTER_DRIVER(driver);                                                                      \
        return answer_driver(driver->call arguments);                                              \
    }

/* Ensures that the thread has a current context: the one already set, by any code, or else the
 * primary one of its device. */
CUresult context_bind(const struct driver *driver);

/* The answer of a function that is not implemented: an error, and one line per name on stderr. The
 * name must be a string literal. */
cudaError_t runtime_unsupported(const char *name);

#endif
