#include "graphs.h"

#include "process/devices.h"
#include "session/session.h"

_Atomic bool graphs_have_memory;

void graphs_count(struct device *device) {
    cuuint64_t bytes = 0;
    if (!atomic_load_explicit(&graphs_have_memory, memory_order_relaxed) ||
        real.cuDeviceGetGraphMemAttribute(device->ordinal, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
                                          &bytes) != CUDA_SUCCESS ||
        bytes == atomic_load(&device->account.pinned_by[PINNED_GRAPH]))
        return;
    account_set_graphs(&device->account, bytes);
    session_memory_changed(device);
}
