/* Physical memory that crosses to another process as a file descriptor. The file is the memory. Its
 * size is that of the allocation, and its name (which /proc shows) has the number of the GPU. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../native/common/old_calls.h"
#include "../unsupported.h"
#include "vmm.h"

#define FILE_NAME "nvshare-emulator-shared-gpu-"

CUresult shared_file_create(uint32_t gpu, uint64_t bytes, int *file) {
    char name[64];
    snprintf(name, sizeof name, FILE_NAME "%u", gpu);
    *file = old_memfd_create(name, MFD_CLOEXEC);
    if (*file >= 0 && ftruncate(*file, (off_t)bytes) == 0)
        return CUDA_SUCCESS;
    if (*file >= 0)
        close(*file);
    *file = -1;
    return CUDA_ERROR_OPERATING_SYSTEM;
}

CUresult cuMemExportToShareableHandle(void *shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType,
                                      unsigned long long flags) {
    REQUIRE_HANDLES();
    REQUIRE(shareableHandle && !flags, CUDA_ERROR_INVALID_VALUE);
    if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return emulator_unsupported(
            "cuMemExportToShareableHandle to a handle other than a file descriptor");
    driver_lock();
    const struct physical *physical = physical_find(handle);
    int file = physical && physical->file >= 0 ? fcntl(physical->file, F_DUPFD_CLOEXEC, 0) : -1;
    driver_unlock();
    REQUIRE(file >= 0, CUDA_ERROR_INVALID_VALUE);
    memcpy(shareableHandle, &file, sizeof file);
    return CUDA_SUCCESS;
}

/* Reads GPU and size off a descriptor; false if it is not one of ours. */
static bool recognise(int file, uint32_t *gpu, uint64_t *bytes) {
    char path[64], target[256] = "";
    struct stat status;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (readlink(path, target, sizeof target - 1) < 0 || old_fstat(file, &status) < 0)
        return false;
    *bytes = (uint64_t)status.st_size;
    return sscanf(target, "/memfd:" FILE_NAME "%u", gpu) == 1 && *gpu < MAX_GPUS &&
           device_exists(device_of_gpu(*gpu));
}

static CUresult import(int file, struct physical **out) {
    struct physical wanted = {.file = -1};
    REQUIRE(recognise(file, &wanted.gpu, &wanted.bytes), CUDA_ERROR_INVALID_VALUE);
    wanted.properties = (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device_of_gpu(wanted.gpu)}};
    wanted.file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    REQUIRE(wanted.file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
    if (driver->data)
        wanted.data = mmap(NULL, wanted.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                           wanted.file, 0);
    CUresult result =
        wanted.data == MAP_FAILED ? CUDA_ERROR_OUT_OF_MEMORY : physical_create(&wanted, out);
    if (result != CUDA_SUCCESS)
        close(wanted.file);
    return result;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
                                        CUmemAllocationHandleType shHandleType) {
    REQUIRE_HANDLES();
    REQUIRE(handle, CUDA_ERROR_INVALID_VALUE);
    if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return emulator_unsupported(
            "cuMemImportFromShareableHandle of a handle other than a file descriptor");
    struct physical *physical;
    driver_lock();
    CUresult result = import((int)(intptr_t)osHandle, &physical);
    driver_unlock();
    if (result == CUDA_SUCCESS)
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)physical;
    return result;
}
