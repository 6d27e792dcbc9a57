/* The one launch that is on several GPUs at once, and has to pass the gate of each. The others are
 * generated from hooks.def. */
#include "sample.h"
#include "submit.h"

CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launchParamsList,
                                              unsigned int numDevices, unsigned int flags) {
    CUresult refused = CUDA_SUCCESS;
    driver_need();
    for (unsigned i = 0; launchParamsList && i < numDevices && !refused; i++)
        refused = submit_elsewhere(launchParamsList[i].hStream);
    if (refused)
        return refused;
    sample_everything();
    return real.cuLaunchCooperativeKernelMultiDevice(launchParamsList, numDevices, flags);
}
