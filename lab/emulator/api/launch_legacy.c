/* Launches as in CUDA 3: a program sets a kernel's shape and parameters one by one, and runs it. */
#include <stdlib.h>
#include <string.h>

#include "launch.h"

enum { LEGACY_BYTES = 4096 }; /* the most parameters of that time */

/* The values set for a kernel so far. Kept apart, since hardly any kernel needs them. */
struct told {
    const struct function *function;
    unsigned block[3];
    unsigned shared_bytes;
    size_t parameter_bytes;
    unsigned char parameters[LEGACY_BYTES];
    struct told *next;
};

static struct told *all;

/* With the driver's lock held. NULL if memory runs out. */
static struct told *find(const struct function *function) {
    struct told *told = all;
    while (told && told->function != function)
        told = told->next;
    if (!told && (told = calloc(1, sizeof *told))) {
        told->function = function;
        told->block[0] = told->block[1] = told->block[2] = 1;
        told->next = all;
        all = told;
    }
    return told;
}

static CUresult tell(CUfunction handle, struct told **out) {
    REQUIRE_DRIVER();
    const struct function *function = function_of(handle);
    REQUIRE(function, CUDA_ERROR_INVALID_HANDLE);
    driver_lock();
    *out = find(function);
    driver_unlock();
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
    struct told *told;
    CUresult result = tell(hfunc, &told);
    REQUIRE(result == CUDA_SUCCESS, result);
    REQUIRE(x > 0 && y > 0 && z > 0, CUDA_ERROR_INVALID_VALUE);
    told->block[0] = (unsigned)x;
    told->block[1] = (unsigned)y;
    told->block[2] = (unsigned)z;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
    struct told *told;
    CUresult result = tell(hfunc, &told);
    REQUIRE(result == CUDA_SUCCESS, result);
    told->shared_bytes = bytes;
    return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
    struct told *told;
    CUresult result = tell(hfunc, &told);
    REQUIRE(result == CUDA_SUCCESS, result);
    REQUIRE(numbytes <= LEGACY_BYTES, CUDA_ERROR_INVALID_VALUE);
    told->parameter_bytes = numbytes;
    return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes) {
    struct told *told;
    CUresult result = tell(hfunc, &told);
    REQUIRE(result == CUDA_SUCCESS, result);
    REQUIRE(ptr && offset >= 0 && offset <= LEGACY_BYTES &&
                numbytes <= LEGACY_BYTES - (unsigned)offset,
            CUDA_ERROR_INVALID_VALUE);
    memcpy(told->parameters + offset, ptr, numbytes);
    return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
    return cuParamSetv(hfunc, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
    return cuParamSetv(hfunc, offset, &value, sizeof value);
}

CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
    struct told *told;
    CUresult result = tell(f, &told);
    REQUIRE(result == CUDA_SUCCESS, result);
    REQUIRE(grid_width > 0 && grid_height > 0, CUDA_ERROR_INVALID_VALUE);
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, told->parameters, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &told->parameter_bytes, CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(f, (unsigned)grid_width, (unsigned)grid_height, 1, told->block[0],
                          told->block[1], told->block[2], told->shared_bytes, hStream, NULL, extra);
}

CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
    return cuLaunchGridAsync(f, grid_width, grid_height, NULL);
}

CUresult cuLaunch(CUfunction f) {
    return cuLaunchGridAsync(f, 1, 1, NULL);
}
