/* Called by the code that nvcc puts into every program and library it compiles: at their start, at
 * their end, and around launches with <<<…>>>. */
#include "registry.h"
#include "undeclared.h"

void **__cudaRegisterFatBinary(void *fatCubin) {
    return (void **)registry_add_binary(fatCubin);
}

/* Nothing is loaded before it is used. */
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle) {
    (void)fatCubinHandle;
}

void __cudaUnregisterFatBinary(void **fatCubinHandle) {
    if (fatCubinHandle)
        registry_remove_binary((struct binary *)fatCubinHandle);
}

/* The parameters after the name were for GPUs that are long obsolete. */
void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                            const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *bDim, dim3 *gDim, int *wSize) {
    (void)deviceFun, (void)thread_limit, (void)tid, (void)bid;
    (void)bDim, (void)gDim, (void)wSize;
    if (fatCubinHandle)
        registry_add_symbol((struct binary *)fatCubinHandle, hostFun, deviceName);
}

void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                       const char *deviceName, int ext, size_t size, int constant, int global) {
    (void)deviceAddress, (void)ext, (void)size, (void)constant, (void)global;
    if (fatCubinHandle)
        registry_add_symbol((struct binary *)fatCubinHandle, hostVar, deviceName);
}

void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                              const char *deviceName, int ext, size_t size, int constant,
                              int global) {
    (void)fatCubinHandle, (void)hostVarPtrAddress, (void)deviceAddress, (void)deviceName;
    (void)ext, (void)size, (void)constant, (void)global;
    runtime_unsupported("a __managed__ variable");
}

/* Called before managed variables are used; 1 says that nothing is left to do. */
char __cudaInitModule(void **fatCubinHandle) {
    (void)fatCubinHandle;
    return 1;
}

/* The configuration between <<< and >>>, kept for the function that launches. The arguments of a
 * call may launch kernels themselves, so several can be kept at once. */
struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};

enum { DEEPEST = 32 };
static _Thread_local struct configuration pending[DEEPEST];
static _Thread_local unsigned depth;

/* 0 lets the call that follows go on. */
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                     struct CUstream_st *stream) {
    if (depth == DEEPEST)
        return (unsigned)answer(cudaErrorMemoryAllocation);
    pending[depth++] = (struct configuration){gridDim, blockDim, sharedMem, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream) {
    REQUIRE(depth, cudaErrorMissingConfiguration);
    const struct configuration *top = &pending[--depth];
    *gridDim = top->grid;
    *blockDim = top->block;
    *sharedMem = top->shared;
    *(cudaStream_t *)stream = top->stream;
    return cudaSuccess;
}
