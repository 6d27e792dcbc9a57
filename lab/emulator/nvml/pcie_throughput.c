/* The throughput of the bus: the difference between two readings of the model's counters. */
#include "look.h"

/* The driver counts over 20 ms, and so do we, or over the time since the last query if that is
 * longer. */
#define INTERVAL_NS UINT64_C(20000000)

struct reading {
    uint64_t at, bytes;
    unsigned int rate; /* KB/s, as of then */
};

/* Of this process; the lock of the node guards it. */
static struct reading readings[MAX_GPUS][NVML_PCIE_UTIL_COUNT];

static unsigned int rate(struct reading *last, uint64_t now, uint64_t bytes) {
    bool other_node = now < last->at || bytes < last->bytes;
    if (!last->at || other_node) {
        *last = (struct reading){now, bytes, 0};
    } else if (now - last->at >= INTERVAL_NS) {
        double per_ns = (double)(bytes - last->bytes) / (double)(now - last->at);
        *last = (struct reading){now, bytes, (unsigned int)(per_ns * 1e6)};
    }
    return last->rate;
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter,
                                         unsigned int *value) {
    LOOK_AT_GPU(device, value && counter < NVML_PCIE_UTIL_COUNT);
    bool sent = counter == NVML_PCIE_UTIL_TX_BYTES;
    *value = rate(&readings[look.index][counter], look.now,
                  sent ? look.gpu->out_bytes : look.gpu->in_bytes);
    return NVML_SUCCESS;
}
