/* Code as nvcc makes it: kernels and variables that register themselves, and launches in all their
 * forms. A kernel is timed here and not computed, so the checks are that it was found, ran, and took
 * its time. */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("%s: %s\n", #call, cudaGetErrorName(error));                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__device__ int counter = 7;
__constant__ float weights[4] = {1, 2, 3, 4};

__global__ void add(const float *x, const float *y, float *z, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i] * weights[i % 4] + counter;
}

/* Used for the first time during a capture, when its code is not loaded yet. */
template <typename T> __global__ void scale(T *x, T by) {
    extern __shared__ T cache[];
    cache[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = cache[threadIdx.x] * by;
}

static const char *last() {
    return cudaGetErrorName(cudaGetLastError());
}

static void launches(float *x, float *y, float *z, int n) {
    add<<<n / 256, 256>>>(x, y, z, n);
    printf("brackets: %s\n", last());

    void *arguments[] = {&x, &y, &z, &n};
    OK(cudaLaunchKernel((const void *)add, dim3(n / 256), dim3(256), arguments, 0, nullptr));
    OK(cudaLaunchCooperativeKernel((const void *)add, dim3(8), dim3(256), arguments, 0, nullptr));

    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(n / 256);
    config.blockDim = dim3(256);
    OK(cudaLaunchKernelEx(&config, add, (const float *)x, (const float *)y, z, n));

    cudaKernel_t kernel;
    OK(cudaGetKernel(&kernel, add));
    OK(cudaLaunchKernel((const void *)kernel, dim3(1), dim3(32), arguments, 0, nullptr));
    OK(cudaDeviceSynchronize());

    add<<<1, 4096>>>(x, y, z, n);
    printf("a block too large: %s\n", last());
    add<<<0, 32>>>(x, y, z, n);
    printf("no block: %s\n", last());
    cudaError_t error = cudaLaunchKernel((const void *)launches, dim3(1), dim3(1), arguments, 0, nullptr);
    printf("no kernel: %s\n", cudaGetErrorName(error));
    (void)cudaGetLastError();
}

static void takes_time(float *x, float *y, float *z, int n) {
    cudaEvent_t begin, end;
    float ms;
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin));
    for (int i = 0; i < 10; i++)
        add<<<n / 256, 256>>>(x, y, z, n);
    OK(cudaEventRecord(end));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, begin, end));
    double bytes = 10.0 * 3 * n * sizeof(float);
    printf("no faster than the memory: %d\n", ms > 0.99 * bytes / 243e6);
}

static void variables() {
    int value = 0;
    float wide[4];
    size_t size;
    void *address, *again;
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    OK(cudaMemcpyFromSymbol(wide, weights, sizeof wide));
    printf("initial values %d, %g %g %g %g\n", value, wide[0], wide[1], wide[2], wide[3]);
    value = 11;
    OK(cudaMemcpyToSymbol(counter, &value, sizeof value));
    float half[2] = {8, 9};
    OK(cudaMemcpyToSymbol(weights, half, sizeof half, 2 * sizeof(float)));
    OK(cudaGetSymbolAddress(&address, counter));
    OK(cudaGetSymbolAddress(&again, counter));
    OK(cudaGetSymbolSize(&size, weights));
    value = 0;
    OK(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    OK(cudaMemcpyFromSymbol(wide, weights, sizeof wide));
    printf("set to %d, %g %g %g %g; %zu bytes, one place %d\n", value, wide[0], wide[1], wide[2],
           wide[3], size, address == again);
    printf("beyond its end: %s\n",
           cudaGetErrorName(cudaMemcpyToSymbol(counter, wide, sizeof wide)));
    (void)cudaGetLastError();
    printf("no variable: %s\n", cudaGetErrorName(cudaGetSymbolAddress(&address, (const void *)"x")));
    (void)cudaGetLastError();
}

static void attributes() {
    cudaFuncAttributes found;
    int blocks;
    OK(cudaFuncGetAttributes(&found, add));
    printf("threads %d, binary %d, registers %d\n", found.maxThreadsPerBlock, found.binaryVersion,
           found.numRegs > 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    printf("blocks on a multiprocessor %d\n", blocks);
    OK(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    OK(cudaFuncGetAttributes(&found, add));
    printf("dynamic shared memory %d\n", found.maxDynamicSharedSizeBytes);
}

static void graph(float *x) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    size_t nodes = 0;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 3; i++)
        scale<float><<<4, 256, 256 * sizeof(float), stream>>>(x, 2.0f);
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, nullptr, &nodes));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++)
        OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    printf("%zu kernels in a graph: %s\n", nodes, last());
}

/* In a program compiled in this way, stream 0 is each thread's own. */
static void default_stream() {
    unsigned long long mine, legacy, other;
    OK(cudaStreamGetId(0, &mine));
    OK(cudaStreamGetId(cudaStreamLegacy, &legacy));
    std::thread([&other] { OK(cudaStreamGetId(0, &other)); }).join();
    printf("default stream is legacy %d, of all threads %d\n", mine == legacy, mine == other);
}

int main() {
    const int n = 1 << 22;
    float *x, *y, *z;
    OK(cudaMalloc(&x, n * sizeof(float)));
    OK(cudaMalloc(&y, n * sizeof(float)));
    OK(cudaMalloc(&z, n * sizeof(float)));
    launches(x, y, z, n);
    takes_time(x, y, z, n);
    variables();
    attributes();
    graph(x);
    default_stream();
    OK(cudaSetDevice(1));
    int value;
    OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("on the other GPU %d\n", value);
    return 0;
}
