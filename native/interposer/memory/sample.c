/* Pointers among a kernel's parameters are found by trying every eight bytes, since nothing tells
 * which are pointers; they lie at multiples of eight. Pointers in memory itself are not
 * followed. */
#include "sample.h"

#include <string.h>

#include "allocations.h"
#include "moves/residency.h"
#include "process/clock.h"
#include "process/devices.h"
#include "recency.h"

enum { MOST_NUMBERS = 256 };

struct numbers {
    uint64_t at[MOST_NUMBERS];
    size_t count;
    bool is_cut; /* there were more */
};

/* No memory of a GPU lies below. */
static const uint64_t lowest_address = RESIDENCY_BLOCK;

static struct recency recency = RECENCY_INITIALIZER;

static void add(struct numbers *numbers, const void *bytes, size_t size) {
    for (size_t i = 0; i + 8 <= size && numbers->count < MOST_NUMBERS; i += 8)
        memcpy(&numbers->at[numbers->count++], (const char *)bytes + i, 8);
    numbers->is_cut |= size / 8 > 0 && numbers->count == MOST_NUMBERS;
}

static void begin(struct numbers *numbers) {
    numbers->count = 0; /* the rest is not worth clearing */
    numbers->is_cut = false;
}

/* The first use of an allocation must not be missed because the index is old. The driver knows
 * which allocation an address lies in. */
static void see(uint64_t number, uint64_t now) {
    CUdeviceptr base;
    size_t size;
    if (number < lowest_address || recency_saw(&allocations.memory, number, now))
        return;
    if (real.cuMemGetAddressRange_v2(&base, &size, number) == CUDA_SUCCESS)
        recency_saw(&allocations.memory, base, now);
}

static void note(const struct numbers *numbers) {
    uint64_t now = clock_now();
    if (numbers->count)
        recency_note(&recency, &allocations.memory, numbers->at, numbers->count, now);
    if (gate_is_curious(gate_here()))
        for (size_t i = 0; i < numbers->count; i++)
            see(numbers->at[i], now);
    if (numbers->is_cut)
        sample_anything();
}

/* A launch may be given a CUkernel instead of a function. */
static CUresult size_of(CUfunction function, size_t index, bool is_kernel, size_t *size) {
    size_t offset;
    return is_kernel ? real.cuKernelGetParamInfo((CUkernel)function, index, &offset, size)
                     : real.cuFuncGetParamInfo(function, index, &offset, size);
}

/* Returns false if the driver does not tell the sizes of parameters: before CUDA 12.4. */
static bool add_parameters(struct numbers *numbers, CUfunction function, void **parameters) {
    size_t size, index = 0;
    CUresult result = size_of(function, 0, false, &size);
    bool is_kernel = result != CUDA_SUCCESS && result != CUDA_ERROR_INVALID_VALUE;
    if (is_kernel)
        result = size_of(function, 0, true, &size);
    for (; result == CUDA_SUCCESS; result = size_of(function, ++index, is_kernel, &size))
        add(numbers, parameters[index], size);
    return index > 0 || result == CUDA_ERROR_INVALID_VALUE; /* the answer beyond the last */
}

/* The other way to pass parameters: all of them in one piece, whose size is known. */
static void add_buffer(struct numbers *numbers, void **extra) {
    const void *buffer = NULL;
    size_t size = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            size = *(const size_t *)extra[1];
        else
            return;
    }
    if (buffer)
        add(numbers, buffer, size);
}

void sample_kernel(CUfunction function, void **parameters, void **extra) {
    struct numbers numbers;
    begin(&numbers);
    if (parameters && !add_parameters(&numbers, function, parameters))
        sample_anything();
    if (!parameters && extra)
        add_buffer(&numbers, extra);
    note(&numbers);
}

void sample_bytes(const void *bytes, size_t size) {
    struct numbers numbers;
    begin(&numbers);
    if (bytes)
        add(&numbers, bytes, size);
    note(&numbers);
}

static void use_all(struct device *device) {
    if (!device)
        return;
    atomic_store_explicit(&device->account.all_used_ns, clock_now(), memory_order_relaxed);
    if (atomic_load_explicit(&device->account.untouched, memory_order_relaxed))
        residency_all_used(&allocations.memory, device->ordinal);
}

void sample_anything(void) {
    use_all(device_here());
}

void sample_everything(void) {
    for (int i = 0; i < DEVICES_MAX; i++)
        use_all(device_known(i));
}

/* Another thread may be allocating now, and make the gate curious before this makes it
 * incurious. */
bool sample_wants(struct device *device) {
    if (ledger_looks(&allocations.memory, &device->account))
        return true;
    gate_set_curious(&device->gate, false);
    if (ledger_watches(&allocations.memory, &device->account))
        gate_set_curious(&device->gate, true);
    return false;
}

void sample_forget(void) {
    recency_forget(&recency);
}
