/* Pointers among a kernel's parameters are found by trying every eight bytes of them, since nothing tells
 * which are pointers; they lie at multiples of eight. What memory points to in turn stays unknown. */
#include "sample.h"

#include <string.h>

#include "books.h"
#include "clock.h"
#include "devices.h"
#include "recency.h"

enum { MOST_NUMBERS = 256 };

struct numbers {
    uint64_t at[MOST_NUMBERS];
    size_t count;
};

static struct recency recency = RECENCY_INITIALIZER;

static void add(struct numbers *numbers, const void *bytes, size_t size) {
    for (size_t i = 0; i + 8 <= size && numbers->count < MOST_NUMBERS; i += 8)
        memcpy(&numbers->at[numbers->count++], (const char *)bytes + i, 8);
}

/* A launch may be given a CUkernel in the place of a function. */
static CUresult size_of(CUfunction function, size_t index, bool is_kernel, size_t *size) {
    size_t offset;
    return is_kernel ? real.cuKernelGetParamInfo((CUkernel)function, index, &offset, size)
                     : real.cuFuncGetParamInfo(function, index, &offset, size);
}

/* Returns false if the driver does not tell the sizes of parameters: those before CUDA 12.4. */
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

/* The other way to give parameters: all of them in one piece, whose size is known. */
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
    numbers.count = 0; /* the rest is not worth clearing */
    if (parameters && !add_parameters(&numbers, function, parameters))
        sample_anything();
    if (!parameters && extra)
        add_buffer(&numbers, extra);
    if (numbers.count)
        recency_note(&recency, &books.memory, numbers.at, numbers.count, clock_now());
}

void sample_anything(void) {
    struct device *device = device_here();
    if (device)
        atomic_store_explicit(&device->account.all_used_ns, clock_now(), memory_order_relaxed);
}

void sample_forget(void) {
    recency_forget(&recency);
}
