/* The CUDA runtime from C, without kernels of its own: compiled with the headers of each major
 * version. Each part prints only results that do not depend on the version. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK(call)                                                                                   \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            printf("%s: %s\n", #call, cudaGetErrorName(error));                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static const char *name(cudaError_t error) {
    return cudaGetErrorName(error);
}

static void versions(void) {
    int runtime, driver;
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    printf("runtime as compiled %d, driver no older %d\n", runtime == CUDART_VERSION,
           driver >= runtime);
}

static void properties(void) {
    struct cudaDeviceProp prop;
    memset(&prop, 0xff, sizeof prop);
    int count;
    OK(cudaGetDeviceCount(&count));
    OK(cudaGetDeviceProperties(&prop, 0));
    printf("%d x %s, %d.%d, %zu bytes, %d multiprocessors of %d threads, warps of %d\n", count,
           prop.name, prop.major, prop.minor, prop.totalGlobalMem, prop.multiProcessorCount,
           prop.maxThreadsPerMultiProcessor, prop.warpSize);
    printf("block %zu + %d threads %d %d %d, grid %d %d %d, L2 %d, bus %d, pci %d:%d:%d\n",
           prop.sharedMemPerBlock, prop.maxThreadsPerBlock, prop.maxThreadsDim[0],
           prop.maxThreadsDim[1], prop.maxThreadsDim[2], prop.maxGridSize[0], prop.maxGridSize[1],
           prop.maxGridSize[2], prop.l2CacheSize, prop.memoryBusWidth, prop.pciDomainID,
           prop.pciBusID, prop.pciDeviceID);
    printf("managed %d concurrent %d pools %d unified %d cluster %d\n", prop.managedMemory,
           prop.concurrentManagedAccess, prop.memoryPoolsSupported, prop.unifiedAddressing,
           prop.clusterLaunch);
    char bus[32];
    int value, device;
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
    OK(cudaDeviceGetByPCIBusId(&device, bus));
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    printf("%s is device %d; opt-in agrees %d\n", bus, device,
           (size_t)value == prop.sharedMemPerBlockOptin);
    printf("no such device: %s\n", name(cudaGetDeviceProperties(&prop, 2)));
    (void)cudaGetLastError();
}

static void *other_thread(void *out) {
    OK(cudaGetDevice(out));
    return NULL;
}

static void devices(void) {
    int mine, other;
    pthread_t thread;
    OK(cudaSetDevice(1));
    OK(cudaGetDevice(&mine));
    pthread_create(&thread, NULL, other_thread, &other);
    pthread_join(thread, NULL);
    printf("device of this thread %d, of a new one %d\n", mine, other);
    printf("device 7: %s\n", name(cudaSetDevice(7)));
    OK(cudaGetDevice(&mine));
    printf("still %d\n", mine);
    OK(cudaSetDevice(0));
    (void)cudaGetLastError();
}

static void errors(void) {
    void *memory;
    printf("too much: %s\n", name(cudaMalloc(&memory, (size_t)1 << 50)));
    OK(cudaDeviceSynchronize());
    cudaError_t peeked = cudaPeekAtLastError(), got = cudaGetLastError();
    printf("peek %s, get %s, get %s\n", name(peeked), name(got), name(cudaGetLastError()));
    printf("%s: %s\n", name(cudaErrorInvalidConfiguration),
           cudaGetErrorString(cudaErrorInvalidConfiguration));
    printf("%s: %s\n", name(cudaErrorMemoryAllocation),
           cudaGetErrorString(cudaErrorMemoryAllocation));
    printf("%s\n", name((cudaError_t)12345));
    const void *table;
    static const cudaUUID_t id;
    printf("export table: %s\n", name(cudaGetExportTable(&table, &id)));
    (void)cudaGetLastError();
}

static const char *kind(const void *pointer) {
    struct cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, pointer));
    static const char *const kinds[] = {"unregistered", "host", "device", "managed"};
    return kinds[attributes.type];
}

static void memory(void) {
    size_t before, after, total, pitch;
    void *device, *host, *managed, *rows;
    OK(cudaFree(NULL));
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaMalloc(&device, 64 << 20));
    OK(cudaMemGetInfo(&after, &total));
    printf("64 MiB are %zu MiB\n", (before - after) >> 20);
    OK(cudaMallocHost(&host, 1 << 20));
    OK(cudaMallocManaged(&managed, 1 << 20, cudaMemAttachGlobal));
    OK(cudaMallocPitch(&rows, &pitch, 100, 10));
    printf("host is %s, stack is %s, pitch is wide enough %d\n", kind(host), kind(&pitch),
           pitch >= 100 && pitch % 16 == 0);
    void *nothing = host;
    OK(cudaMalloc(&nothing, 0));
    printf("no bytes: %p\n", nothing);
    OK(cudaFree(rows));
    OK(cudaFree(managed));
    OK(cudaFreeHost(host));
    OK(cudaFree(device));
    printf("twice: %s\n", name(cudaFree(device)));
    (void)cudaGetLastError();
}

static void copies(void) {
    enum { BYTES = 1 << 16 };
    static unsigned char out[BYTES], in[BYTES];
    for (int i = 0; i < BYTES; i++)
        out[i] = (unsigned char)(i * 31 + 7);
    char *first, *second;
    OK(cudaMalloc((void **)&first, BYTES));
    OK(cudaMalloc((void **)&second, BYTES));
    OK(cudaMemcpy(first, out, BYTES, cudaMemcpyHostToDevice));
    OK(cudaMemcpyAsync(second, first, BYTES, cudaMemcpyDeviceToDevice, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaMemcpy(in, second, BYTES, cudaMemcpyDefault));
    printf("there and back %d\n", memcmp(in, out, BYTES) == 0);
    OK(cudaMemset(first, 0x5a, BYTES));
    OK(cudaMemcpy2D(first + 1, 256, out, 100, 50, 10, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(in, first, BYTES, cudaMemcpyDeviceToHost));
    printf("rows %d %d %d %d\n", in[0], memcmp(in + 1, out, 50) == 0, in[51],
           memcmp(in + 1 + 9 * 256, out + 900, 50) == 0);
    printf("sideways: %s\n", name(cudaMemcpy(first, out, 1, (enum cudaMemcpyKind)9)));
    (void)cudaGetLastError();
    OK(cudaFree(first));
    OK(cudaFree(second));
}

static void called(void *data) {
    ++*(int *)data;
}

static void streams(void) {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    int least, greatest, priority, calls = 0;
    float ms = -1;
    void *memory;
    OK(cudaMalloc(&memory, 32 << 20));
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetPriority(stream, &priority));
    OK(cudaEventCreate(&begin));
    OK(cudaEventCreate(&end));
    OK(cudaEventRecord(begin, stream));
    OK(cudaMemsetAsync(memory, 1, 32 << 20, stream));
    OK(cudaLaunchHostFunc(stream, called, &calls));
    OK(cudaEventRecord(end, stream));
    OK(cudaStreamWaitEvent(NULL, end, 0));
    OK(cudaStreamSynchronize(NULL));
    OK(cudaEventElapsedTime(&ms, begin, end));
    printf("least %d, ours is the greatest %d, took time %d, called %d\n", least,
           priority == greatest, ms > 0, calls);
    printf("query %s %s\n", name(cudaStreamQuery(stream)), name(cudaEventQuery(end)));
    OK(cudaEventDestroy(begin));
    OK(cudaEventDestroy(end));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(memory));
}

static void graphs(void) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    enum cudaStreamCaptureStatus status;
    size_t nodes = 0;
    unsigned char in[4];
    char *memory;
    OK(cudaMalloc((void **)&memory, 4));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    OK(cudaMemsetAsync(memory, 9, 4, stream));
    OK(cudaMemsetAsync(memory, 3, 2, stream));
    OK(cudaStreamIsCapturing(stream, &status));
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(in, memory, 4, cudaMemcpyDeviceToHost));
    printf("captured %d, %zu nodes, %d %d %d %d\n", status == cudaStreamCaptureStatusActive, nodes,
           in[0], in[1], in[2], in[3]);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(memory));
}

static void pools(void) {
    cudaMemPool_t pool;
    void *memory;
    unsigned long long used, later, keep = ~0ull;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMallocAsync(&memory, 8 << 20, NULL));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    OK(cudaFreeAsync(memory, NULL));
    OK(cudaStreamSynchronize(NULL));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &later));
    OK(cudaMemPoolTrimTo(pool, 0));
    printf("in use %llu MiB, then %llu\n", used >> 20, later);
}

static void peers(void) {
    int can;
    char *here, *there, text[] = "from one GPU to another", back[sizeof text];
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    OK(cudaMalloc((void **)&here, sizeof text));
    OK(cudaSetDevice(1));
    OK(cudaMalloc((void **)&there, sizeof text));
    OK(cudaSetDevice(0));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    printf("again: %s\n", name(cudaDeviceEnablePeerAccess(1, 0)));
    (void)cudaGetLastError();
    OK(cudaMemcpy(here, text, sizeof text, cudaMemcpyHostToDevice));
    OK(cudaMemcpyPeer(there, 1, here, 0, sizeof text));
    OK(cudaMemcpy(back, there, sizeof text, cudaMemcpyDeviceToHost));
    printf("%d: %s\n", can, back);
    OK(cudaFree(here));
    OK(cudaFree(there));
}

static void entry_points(void) {
    void *found;
    enum cudaDriverEntryPointQueryResult status;
    OK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &found, 12000, cudaEnableDefault, &status));
    printf("cuMemAlloc %d %d", found != NULL, status == cudaDriverEntryPointSuccess);
    OK(cudaGetDriverEntryPointByVersion("cuNothing", &found, 12000, cudaEnableDefault, &status));
    printf(", cuNothing %d %d\n", found != NULL, status == cudaDriverEntryPointSymbolNotFound);
}

int main(void) {
    versions();
    properties();
    devices();
    errors();
    memory();
    copies();
    streams();
    graphs();
    pools();
    peers();
    entry_points();
    OK(cudaDeviceReset());
    memory();
    return 0;
}
