/* Functions of the CUDA runtime that no header of ours declares. The generator reads this file as it
 * reads the vendor's.
 *
 * The first group is called by code that nvcc has generated, and is declared only for nvcc. The
 * profiler switches have a header of their own (cuda_profiler_api.h), in a package that nothing else
 * here needs. The last group is declared in headers that need those of OpenGL, EGL and VDPAU; since
 * a function that looks at no argument can be called with any, it does without their types. */
#ifndef NVSHARE_RUNTIME_UNDECLARED_H
#define NVSHARE_RUNTIME_UNDECLARED_H

#include <cuda_runtime_api.h>

void **__cudaRegisterFatBinary(void *fatCubin);
void __cudaRegisterFatBinaryEnd(void **fatCubinHandle);
void __cudaUnregisterFatBinary(void **fatCubinHandle);
void __cudaRegisterFunction(void **fatCubinHandle, const char *hostFun, char *deviceFun,
                            const char *deviceName, int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *bDim, dim3 *gDim, int *wSize);
void __cudaRegisterVar(void **fatCubinHandle, char *hostVar, char *deviceAddress,
                       const char *deviceName, int ext, size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **fatCubinHandle, void **hostVarPtrAddress, char *deviceAddress,
                              const char *deviceName, int ext, size_t size, int constant,
                              int global);
char __cudaInitModule(void **fatCubinHandle);
unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                     struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *gridDim, dim3 *blockDim, size_t *sharedMem,
                                       void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                               size_t sharedMem, cudaStream_t stream);
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args,
                                    size_t sharedMem, cudaStream_t stream);

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

cudaError_t cudaEGLStreamConsumerAcquireFrame(void);
cudaError_t cudaEGLStreamConsumerConnect(void);
cudaError_t cudaEGLStreamConsumerConnectWithFlags(void);
cudaError_t cudaEGLStreamConsumerDisconnect(void);
cudaError_t cudaEGLStreamConsumerReleaseFrame(void);
cudaError_t cudaEGLStreamProducerConnect(void);
cudaError_t cudaEGLStreamProducerDisconnect(void);
cudaError_t cudaEGLStreamProducerPresentFrame(void);
cudaError_t cudaEGLStreamProducerReturnFrame(void);
cudaError_t cudaEventCreateFromEGLSync(void);
cudaError_t cudaGLGetDevices(void);
cudaError_t cudaGLMapBufferObject(void);
cudaError_t cudaGLMapBufferObjectAsync(void);
cudaError_t cudaGLRegisterBufferObject(void);
cudaError_t cudaGLSetBufferObjectMapFlags(void);
cudaError_t cudaGLSetGLDevice(void);
cudaError_t cudaGLUnmapBufferObject(void);
cudaError_t cudaGLUnmapBufferObjectAsync(void);
cudaError_t cudaGLUnregisterBufferObject(void);
cudaError_t cudaGraphicsEGLRegisterImage(void);
cudaError_t cudaGraphicsGLRegisterBuffer(void);
cudaError_t cudaGraphicsGLRegisterImage(void);
cudaError_t cudaGraphicsResourceGetMappedEglFrame(void);
cudaError_t cudaGraphicsVDPAURegisterOutputSurface(void);
cudaError_t cudaGraphicsVDPAURegisterVideoSurface(void);
cudaError_t cudaVDPAUGetDevice(void);
cudaError_t cudaVDPAUSetVDPAUDevice(void);

#endif
