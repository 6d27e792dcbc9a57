/* Breaking an emulated GPU, and mending it. */
#include "faults.h"

#include <stdio.h>

#include "model/node.h"

static void set_fault(struct gpu *gpu, unsigned int xid, int needs_reset) {
    gpu->is_lost = xid == XID_LOST;
    gpu->needs_reset = xid != 0 && needs_reset;
    gpu->last_xid = xid;
    if (xid != 0)
        gpu->xids++;
}

nvmlReturn_t nvshareEmulatorFault(const char *folder, unsigned int gpu, unsigned int xid,
                                  int needs_reset) {
    if (!folder)
        return NVML_ERROR_INVALID_ARGUMENT;
    struct node *node;
    char why[4096];
    if (node_attach_folder(folder, &node, why, sizeof why) < 0) {
        fprintf(stderr, "nvshare emulator: %s\n", why);
        return NVML_ERROR_NOT_FOUND;
    }
    nvmlReturn_t result = NVML_ERROR_INVALID_ARGUMENT;
    node_lock(node);
    if (gpu < node->profile.gpu_count) {
        set_fault(&node->gpus[gpu], xid, needs_reset);
        result = NVML_SUCCESS;
    }
    node_unlock(node);
    node_detach(node);
    return result;
}
