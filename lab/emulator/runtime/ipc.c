/* Memory and events of other processes. */
#include <string.h>

#include "runtime.h"

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "the same thing");
_Static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle), "the same thing");

FORWARD(cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *devPtr), cuIpcGetMemHandle,
        ((CUipcMemHandle *)handle, (CUdeviceptr)devPtr))
FORWARD(cudaIpcCloseMemHandle, (void *devPtr), cuIpcCloseMemHandle, ((CUdeviceptr)devPtr))
FORWARD(cudaIpcGetEventHandle, (cudaIpcEventHandle_t * handle, cudaEvent_t event),
        cuIpcGetEventHandle, ((CUipcEventHandle *)handle, event))

cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle, unsigned int flags) {
    ENTER(driver);
    CUipcMemHandle same;
    memcpy(&same, &handle, sizeof same);
    return answer_driver(driver->cuIpcOpenMemHandle((CUdeviceptr *)devPtr, same, flags));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle) {
    ENTER(driver);
    CUipcEventHandle same;
    memcpy(&same, &handle, sizeof same);
    return answer_driver(driver->cuIpcOpenEventHandle(event, same));
}
