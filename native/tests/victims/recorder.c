/* The notes of a recorder, and the answers that the interposer itself needs: a context on one GPU
 * without managed memory, so that allocations are passed on unchanged. */
#include "recorder.h"

enum { NOTES_MAX = 16 };

static struct note notes[NOTES_MAX];
static int count;
struct note *recorder_now = &notes[0];

void record_begin(const char *name) {
    recorder_now = &notes[count++ % NOTES_MAX];
    note_begin(recorder_now, name);
}

#ifdef RECORDER_NVML
#define RECORDER_FIND recorder_find_nvml
#else
#define RECORDER_FIND recorder_find_cuda
#endif

/* How often exactly this call was made since the last time; the notes are thrown away. */
int RECORDER_FIND(const char *text) {
    int found = 0;
    for (int i = 0; i < count && i < NOTES_MAX; i++)
        found += strcmp(notes[i].text, text) == 0;
    count = 0;
    return found;
}

#ifndef RECORDER_NVML
static int context;

CUresult cuInit(unsigned int flags) {
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *out) {
    *out = (CUcontext)&context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
    *value = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    memset(uuid, 7, sizeof *uuid);
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static void *resolve(const char *name, int version, int per_thread) {
    for (const struct recorder_entry *e = recorder_entries; e->name; e++)
        if (strcmp(e->name, name) == 0 && e->version == version && e->per_thread == per_thread)
            return e->function;
    return NULL;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
    int per_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    *pfn = resolve(symbol, version, per_thread);
    if (status)
        *status = *pfn ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *pfn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}
#endif
