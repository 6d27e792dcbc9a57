/* Finding hooks: by name, and by the address of the driver's function. */
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "hook_table.h"

static CUresult absent(void) {
    return CUDA_ERROR_NOT_FOUND;
}

static nvmlReturn_t absent_nvml(void) {
    return NVML_ERROR_FUNCTION_NOT_FOUND;
}

#define ABSENT_CUDA (hook_function) absent
#define ABSENT_NVML (hook_function) absent_nvml

struct driver_calls real = {
#define HOOK(library, kind, name) .name = (__typeof__(name) *)ABSENT_##library,
#include "hooks.inc"
#undef HOOK
};

/* Real functions by address, for cuGetProcAddress and for pointers that were bound before we were
 * loaded. Open addressing; entries are only ever added, so readers need no lock. */
enum { ADDRESS_SLOTS = 1024 };
static const struct hook *_Atomic by_address[ADDRESS_SLOTS];

static hook_function *slot_of(const struct hook *hook) {
    return (hook_function *)((char *)&real + hook->slot);
}

hook_function hook_real(const struct hook *hook) {
    hook_function function = __atomic_load_n(slot_of(hook), __ATOMIC_ACQUIRE);
    return function == ABSENT_CUDA || function == ABSENT_NVML ? NULL : function;
}

static size_t start_of(const void *address) {
    return ((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54;
}

const struct hook *hook_at(const void *address) {
    for (size_t i = start_of(address);; i = (i + 1) % ADDRESS_SLOTS) {
        const struct hook *hook = atomic_load_explicit(&by_address[i], memory_order_acquire);
        if (!hook || (const void *)hook_real(hook) == address)
            return hook;
    }
}

void hook_found(const struct hook *hook, hook_function function) {
    __atomic_store_n(slot_of(hook), function, __ATOMIC_RELEASE);
    if (!hook->wrapper)
        return;
    for (size_t i = start_of((const void *)function);; i = (i + 1) % ADDRESS_SLOTS) {
        const struct hook *none = NULL;
        /* Two threads may find the driver at the same time, and note the same hook. */
        if (atomic_compare_exchange_strong(&by_address[i], &none, hook) || none == hook)
            return;
    }
}

const struct hook *hook_named(const char *name) {
    /* Nearly every name that a program looks up is not hooked. */
    if (strncmp(name, "cu", 2) != 0 && strncmp(name, "nvml", 4) != 0)
        return NULL;
    size_t low = 0, high = hook_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(hook_table[middle].name, name);
        if (order == 0)
            return &hook_table[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
