/* Breaking an emulated GPU, and repairing it. */
#include "faults.h"

#include <stdio.h>

#include "model/node.h"
#include "model/residency.h"

static void set_fault(struct gpu *gpu, unsigned int xid, int needs_reset) {
    gpu->is_lost = xid == XID_LOST;
    gpu->needs_reset = xid != 0 && needs_reset;
    gpu->last_xid = xid;
    if (xid != 0)
        gpu->xids++;
}

static void set_stolen(struct gpu *gpu, uint64_t bytes) {
    uint64_t free = gpu_free_bytes(gpu) + gpu->stolen_bytes;
    gpu->stolen_bytes = bytes < free ? bytes : free;
}

/* The node in a folder, locked, if it has such a GPU. */
static nvmlReturn_t open_gpu(const char *folder, unsigned int gpu, struct node **out) {
    char why[4096];
    if (!folder)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (node_attach_folder(folder, out, why, sizeof why) < 0) {
        fprintf(stderr, "nvshare emulator: %s\n", why);
        return NVML_ERROR_NOT_FOUND;
    }
    if (gpu >= (*out)->profile.gpu_count) {
        node_detach(*out);
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    node_lock(*out);
    return NVML_SUCCESS;
}

static void close_gpu(struct node *node) {
    node_unlock(node);
    node_detach(node);
}

nvmlReturn_t nvshareEmulatorFault(const char *folder, unsigned int gpu, unsigned int xid,
                                  int needs_reset) {
    struct node *node;
    nvmlReturn_t result = open_gpu(folder, gpu, &node);
    if (result != NVML_SUCCESS)
        return result;
    set_fault(&node->gpus[gpu], xid, needs_reset);
    close_gpu(node);
    return NVML_SUCCESS;
}

nvmlReturn_t nvshareEmulatorSteal(const char *folder, unsigned int gpu, unsigned long long bytes) {
    struct node *node;
    nvmlReturn_t result = open_gpu(folder, gpu, &node);
    if (result != NVML_SUCCESS)
        return result;
    set_stolen(&node->gpus[gpu], bytes);
    close_gpu(node);
    return NVML_SUCCESS;
}

nvmlReturn_t nvshareEmulatorRefuse(const char *folder, unsigned int gpu, int refuses) {
    struct node *node;
    nvmlReturn_t result = open_gpu(folder, gpu, &node);
    if (result != NVML_SUCCESS)
        return result;
    node->gpus[gpu].is_unsupported = refuses != 0;
    close_gpu(node);
    return NVML_SUCCESS;
}
