/* Memory of the GPU and of the host: allocated, freed, and queried. */
#include <stddef.h>

#include "runtime.h"

FORWARD(cudaMemGetInfo, (size_t *free, size_t *total), cuMemGetInfo, (free, total))

cudaError_t cudaMalloc(void **devPtr, size_t size) {
    ENTER(driver);
    REQUIRE(devPtr, cudaErrorInvalidValue);
    if (!size) {
        *devPtr = NULL;
        return cudaSuccess;
    }
    return answer_driver(driver->cuMemAlloc((CUdeviceptr *)devPtr, size));
}

cudaError_t cudaMallocPitch(void **devPtr, size_t *pitch, size_t width, size_t height) {
    ENTER(driver);
    REQUIRE(devPtr && pitch, cudaErrorInvalidValue);
    if (!width || !height) {
        *devPtr = NULL;
        *pitch = 0;
        return cudaSuccess;
    }
    /* Of the element sizes that the driver accepts, the widest gives a pitch that suits all. */
    return answer_driver(driver->cuMemAllocPitch((CUdeviceptr *)devPtr, pitch, width, height, 16));
}

cudaError_t cudaMallocManaged(void **devPtr, size_t size, unsigned int flags) {
    ENTER(driver);
    REQUIRE(devPtr && size, cudaErrorInvalidValue);
    return answer_driver(driver->cuMemAllocManaged((CUdeviceptr *)devPtr, size, flags));
}

/* cudaFree(NULL) frees nothing; programs use it to create a context. */
cudaError_t cudaFree(void *devPtr) {
    ENTER(driver);
    return devPtr ? answer_driver(driver->cuMemFree((CUdeviceptr)devPtr)) : cudaSuccess;
}

cudaError_t cudaHostAlloc(void **pHost, size_t size, unsigned int flags) {
    ENTER(driver);
    REQUIRE(pHost, cudaErrorInvalidValue);
    if (!size) {
        *pHost = NULL;
        return cudaSuccess;
    }
    return answer_driver(driver->cuMemHostAlloc(pHost, size, flags));
}

cudaError_t cudaMallocHost(void **ptr, size_t size) {
    return cudaHostAlloc(ptr, size, cudaHostAllocDefault);
}

cudaError_t cudaFreeHost(void *ptr) {
    ENTER(driver);
    return ptr ? answer_driver(driver->cuMemFreeHost(ptr)) : cudaSuccess;
}

FORWARD(cudaHostRegister, (void *ptr, size_t size, unsigned int flags), cuMemHostRegister,
        (ptr, size, flags))
FORWARD(cudaHostUnregister, (void *ptr), cuMemHostUnregister, (ptr))
FORWARD(cudaHostGetDevicePointer, (void **pDevice, void *pHost, unsigned int flags),
        cuMemHostGetDevicePointer, ((CUdeviceptr *)pDevice, pHost, flags))
FORWARD(cudaHostGetFlags, (unsigned int *pFlags, void *pHost), cuMemHostGetFlags, (pFlags, pHost))

/* The driver's answers about a pointer. It leaves out those that do not apply. */
struct facts {
    unsigned int type; /* a CUmemorytype, or 0 if it does not know the pointer */
    int device;
    void *on_device;
    void *on_host;
    unsigned int managed;
};

static CUresult ask(const struct driver *driver, const void *ptr, struct facts *facts) {
    CUpointer_attribute wanted[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
        CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER,
        CU_POINTER_ATTRIBUTE_IS_MANAGED,
    };
    void *into[] = {&facts->type, &facts->device, &facts->on_device, &facts->on_host,
                    &facts->managed};
    return driver->cuPointerGetAttributes(sizeof wanted / sizeof wanted[0], wanted, into,
                                          (CUdeviceptr)ptr);
}

static enum cudaMemoryType type_of(const struct facts *facts) {
    if (facts->managed)
        return cudaMemoryTypeManaged;
    switch (facts->type) {
    case CU_MEMORYTYPE_HOST: return cudaMemoryTypeHost;
    case CU_MEMORYTYPE_DEVICE: return cudaMemoryTypeDevice;
    default: return cudaMemoryTypeUnregistered;
    }
}

/* A pointer that the driver does not know is memory of the host, and no error. */
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *ptr) {
    ENTER(driver);
    REQUIRE(attributes, cudaErrorInvalidValue);
    struct facts facts = {0};
    CUresult result = ask(driver, ptr, &facts);
    if (result != CUDA_SUCCESS)
        return answer_driver(result);
    struct cudaPointerAttributes found = {.type = type_of(&facts), .device = facts.device};
#if CUDART_VERSION >= 13000
    found.localityDomainOrdinal = -1;
#endif
    if (found.type == cudaMemoryTypeUnregistered) {
        found.device = cudaInvalidDeviceId;
        found.hostPointer = (void *)ptr;
    } else {
        found.devicePointer = facts.on_device;
        found.hostPointer = facts.on_host;
    }
    *attributes = found;
    return cudaSuccess;
}
