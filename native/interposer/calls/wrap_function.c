/* Host functions, which the driver calls in the order of a stream. While one runs, the work behind
 * it does not; and it may wait for a thread that waits at the gate (undrained.h). */
#include <stdlib.h>

#include "process/devices.h"
#include "process/streams.h"

struct function {
    CUhostFn call;
    CUstreamCallback call_back;
    void *data;
    struct device *device;
};

static struct function begin(void *data) {
    struct function own = *(struct function *)data;
    free(data);
    atomic_fetch_add(&own.device->functions, 1);
    return own;
}

static void run(void *data) {
    struct function own = begin(data);
    own.call(own.data);
    atomic_fetch_sub(&own.device->functions, 1);
}

static void run_back(CUstream stream, CUresult status, void *data) {
    struct function own = begin(data);
    own.call_back(stream, status, own.data);
    atomic_fetch_sub(&own.device->functions, 1);
}

/* NULL if it is left as it is: a function in a graph is called at each launch. */
static struct function *wrap(CUstream stream, struct function function) {
    function.device = device_here();
    if (!function.device || stream_is_capturing(stream) || !(function.call || function.call_back))
        return NULL;
    struct function *own = malloc(sizeof *own);
    if (own)
        *own = function;
    return own;
}

static CUresult launched(struct function *own, CUresult result) {
    if (result != CUDA_SUCCESS)
        free(own);
    return result;
}

#define LAUNCHES(name, flavour, parameters, as_it_is, wrapped)                                     \
    CUresult name parameters {                                                                     \
        driver_need();                                                                             \
        struct function *own =                                                                     \
            wrap(flavour(hStream), (struct function){.call = fn, .data = userData});               \
        return own ? launched(own, real.name wrapped) : real.name as_it_is;                        \
    }

#define ADDS(name, flavour)                                                                        \
    CUresult name(CUstream hStream, CUstreamCallback callback, void *userData,                     \
                  unsigned int flags) {                                                            \
        driver_need();                                                                             \
        struct function *own =                                                                     \
            wrap(flavour(hStream), (struct function){.call_back = callback, .data = userData});    \
        return own ? launched(own, real.name(hStream, run_back, own, flags))                       \
                   : real.name(hStream, callback, userData, flags);                                \
    }

#define BOTH(name, parameters, as_it_is, wrapped)                                                  \
    LAUNCHES(name, stream_legacy, parameters, as_it_is, wrapped)                                   \
    LAUNCHES(name##_ptsz, stream_per_thread, parameters, as_it_is, wrapped)

BOTH(cuLaunchHostFunc, (CUstream hStream, CUhostFn fn, void *userData), (hStream, fn, userData),
     (hStream, run, own))
BOTH(cuLaunchHostFunc_v2, (CUstream hStream, CUhostFn fn, void *userData, unsigned int syncMode),
     (hStream, fn, userData, syncMode), (hStream, run, own, syncMode))
ADDS(cuStreamAddCallback, stream_legacy)
ADDS(cuStreamAddCallback_ptsz, stream_per_thread)
