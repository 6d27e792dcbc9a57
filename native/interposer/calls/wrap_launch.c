/* The one launch that runs on several GPUs, and has to pass the gate of each. The others are
 * generated from hooks.def. */
#include "gate/gate.h"
#include "gate/submit.h"
#include "memory/sample.h"

static CUstream stream_of(const void *list, unsigned index) {
    return ((const CUDA_LAUNCH_PARAMS *)list)[index].hStream;
}

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList,
                                              unsigned int numDevices, unsigned int flags) {
    driver_need();
    CUresult result =
        submit_everywhere(launchParamsList ? numDevices : 0, stream_of, launchParamsList);
    if (result)
        return result;
    sample_everything();
    result = real.cuLaunchCooperativeKernelMultiDevice(launchParamsList, numDevices, flags);
    gate_leave();
    return result;
}
