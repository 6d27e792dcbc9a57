/* Initialisation and shutdown of the library, and the entry of every call. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "look.h"
#include "model/node.h"

/* NVML leaves the type open; a handle is a place in the table below. */
struct nvmlDevice_st {
    uint32_t index;
};

/* A call holds the lock for reading, so that a shutdown in another thread cannot unmap the node
 * meanwhile. */
static struct {
    pthread_rwlock_t lock;
    unsigned int initialised; /* number of initialisations, less the shutdowns */
    struct node *node;
    struct nvmlDevice_st devices[MAX_GPUS];
} library = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static nvmlReturn_t attach(void) {
    char why[4096];
    int result = node_attach(&library.node, why, sizeof why);
    if (result == 0)
        return NVML_SUCCESS;
    fprintf(stderr, "nvshare emulator: %s\n", why);
    return result == -EACCES ? NVML_ERROR_NO_PERMISSION : NVML_ERROR_DRIVER_NOT_LOADED;
}

/* The flags make no difference: there is always a GPU, and attaching to it costs nothing. */
nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    (void)flags;
    pthread_rwlock_wrlock(&library.lock);
    nvmlReturn_t result = library.initialised ? NVML_SUCCESS : attach();
    if (result == NVML_SUCCESS)
        library.initialised++;
    pthread_rwlock_unlock(&library.lock);
    return result;
}

nvmlReturn_t nvmlInit_v2(void) {
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown(void) {
    pthread_rwlock_wrlock(&library.lock);
    nvmlReturn_t result = library.initialised ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
    if (library.initialised && --library.initialised == 0) {
        node_detach(library.node);
        library.node = NULL;
    }
    pthread_rwlock_unlock(&library.lock);
    return result;
}

nvmlDevice_t handle_of(uint32_t index) {
    library.devices[index].index = index;
    return &library.devices[index];
}

/* Compared with every handle and never dereferenced: a caller may pass anything. */
uint32_t index_of(const struct look *look, nvmlDevice_t device) {
    for (uint32_t i = 0; i < look->node->profile.gpu_count; i++)
        if (device == &library.devices[i])
            return i;
    return NO_INDEX;
}

static struct look refuse(nvmlReturn_t error) {
    pthread_rwlock_unlock(&library.lock);
    return (struct look){.error = error};
}

struct look look_at_node(bool arguments_are_good) {
    pthread_rwlock_rdlock(&library.lock);
    if (!library.initialised)
        return refuse(NVML_ERROR_UNINITIALIZED);
    if (!arguments_are_good)
        return refuse(NVML_ERROR_INVALID_ARGUMENT);
    return (struct look){
        .error = NVML_SUCCESS, .node = library.node, .now = node_lock(library.node)};
}

struct look look_at_gpu(nvmlDevice_t device, bool arguments_are_good) {
    struct look look = look_at_node(arguments_are_good);
    if (look.error != NVML_SUCCESS)
        return look;
    look.index = index_of(&look, device);
    look.gpu = look.index != NO_INDEX ? &look.node->gpus[look.index] : NULL;
    nvmlReturn_t error = !look.gpu                  ? NVML_ERROR_INVALID_ARGUMENT
                         : look.gpu->is_lost        ? NVML_ERROR_GPU_IS_LOST
                         : look.gpu->is_unsupported ? NVML_ERROR_NOT_SUPPORTED
                                                    : NVML_SUCCESS;
    if (error == NVML_SUCCESS)
        return look;
    node_unlock(look.node);
    return refuse(error);
}

void look_away(struct look *look) {
    if (!look->node)
        return;
    node_unlock(look->node);
    pthread_rwlock_unlock(&library.lock);
}
