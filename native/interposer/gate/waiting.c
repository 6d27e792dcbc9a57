#include "waiting.h"

#include "explicit/pooled.h"
#include "gate.h"
#include "process/devices.h"
#include "session/session.h"

struct usage *waiting_begins(void) {
    driver_need();
    struct device *device = device_of_gate(gate_here());
    if (!device || !atomic_load_explicit(&device->is_managed, memory_order_relaxed))
        return NULL;
    usage_wait_begins(&device->usage);
    session_usage_changes(device);
    return &device->usage;
}

void waiting_ends(struct usage *usage) {
    if (usage)
        usage_wait_ends(usage);
    if (__builtin_expect(atomic_load_explicit(&pools_have_excess, memory_order_relaxed), 0))
        pooled_give_back_excess();
}
