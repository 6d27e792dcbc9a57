/* A kernel as work for the model: the memory it touches, its cost, and its computation. */
#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "memory.h"
#include "task.h"

struct computation {
    kernel_body *body;
    kernel_spin *spin;
    struct kernel_call call;
    unsigned char parameters[];
};

static void compute(void *data, uint64_t finished_at) {
    (void)finished_at;
    struct computation *computation = data;
    driver_lock();
    if (computation->body)
        computation->body(&computation->call);
    driver_unlock();
    free(computation);
}

static bool spin(void *data) {
    const struct computation *computation = data;
    driver_lock();
    bool ends = computation->spin(&computation->call);
    driver_unlock();
    return ends;
}

static struct kernel_call call_of(const struct kernel_task *kernel) {
    struct kernel_call call = {.parameters = kernel->parameters,
                               .parameter_bytes = kernel->parameter_bytes};
    memcpy(call.grid, kernel->grid, sizeof call.grid);
    memcpy(call.block, kernel->block, sizeof call.block);
    return call;
}

/* Host memory is always stored, so a kernel that spins there works even with `data off`. */
static bool has_its_data(const struct kernel_task *kernel) {
    if (driver->data || !kernel->function->spin)
        return driver->data;
    driver_lock();
    bool is_kept = kernel_waits_for_host(kernel);
    driver_unlock();
    return is_kept;
}

/* Only kernels of ours compute, and only when bytes are kept at all. */
static struct effect effect_of(const struct kernel_task *kernel) {
    bool computes = kernel->function->body || kernel->function->spin;
    if (!computes || !has_its_data(kernel))
        return (struct effect){0};
    struct computation *computation = malloc(sizeof *computation + kernel->parameter_bytes);
    if (!computation)
        return (struct effect){0};
    computation->body = kernel->function->body;
    computation->spin = kernel->function->spin;
    computation->call = call_of(kernel);
    memcpy(computation->parameters, kernel->parameters, kernel->parameter_bytes);
    computation->call.parameters = computation->parameters;
    return (struct effect){.run = compute, .data = computation, .eager = true, .work = true};
}

/* Does a kernel continue the last one of its stream: the same code in the same memory, from a
 * higher address on? A library that cuts a large array into pieces, to count its elements in
 * 32 bits, launches that way. The first kernel has paid for all of the memory, so the others
 * pay nothing. */
static bool continues(const struct sweep *before, const struct sweep *now) {
    if (before->function != now->function || before->count != now->count || !now->count ||
        now->count > SWEEP_POINTERS)
        return false;
    for (unsigned i = 0; i < now->count; i++)
        if (now->pointer[i].address <= before->pointer[i].address ||
            now->pointer[i].address >= before->pointer[i].end)
            return false;
    return true;
}

/* Returns whether the memory that the kernel touches is paid for. */
static bool touch_for(struct CUstream_st *stream, const struct kernel_task *kernel,
                      struct touch *touch, struct effect *effect) {
    struct sweep sweep = {.function = kernel->function};
    driver_lock();
    kernel_touch(kernel, touch, &sweep);
    kernel_reach(kernel, stream->context->gpu, effect);
    bool paid = continues(&stream->sweep, &sweep);
    stream->sweep = sweep;
    driver_unlock();
    return paid;
}

static uint64_t duration_of(const struct kernel_task *kernel, uint32_t gpu,
                            const struct touch *touch, bool paid, bool *fixed) {
    const struct function *function = kernel->function;
    struct kernel_call call = call_of(kernel);
    *fixed = true;
    if (driver->kernel_ns >= 0)
        return (uint64_t)driver->kernel_ns;
    if (function->cost)
        return function->cost(&call);
    if (function->image->cost_ns)
        return function->image->cost_ns;
    const struct gpu_profile *profile = gpu_profile(gpu);
    if (paid)
        return profile->kernel_floor_ns;
    *fixed = false;
    uint64_t ns = (uint64_t)((double)touch->plain_bytes * 1e9 / (double)profile->bandwidth);
    return ns > profile->kernel_floor_ns ? ns : profile->kernel_floor_ns;
}

CUresult queue_kernel(struct CUstream_st *stream, const struct kernel_task *kernel,
                      uint64_t *ticket) {
    struct effect effect = effect_of(kernel);
    if (!driver->model) {
        if (kernel->function->spans || driver->reservations) {
            driver_lock();
            kernel_reach(kernel, stream->context->gpu, &effect);
            driver_unlock();
        }
        *ticket = stream_push(stream, (struct operation){0}, NULL, effect);
        return CUDA_SUCCESS;
    }
    struct touch touch = {0};
    bool paid = touch_for(stream, kernel, &touch, &effect);
    bool fixed;
    struct operation operation = {.kind = OPERATION_WORK, .engine = ENGINE_COMPUTE};
    operation.amount = duration_of(kernel, stream->context->gpu, &touch, paid, &fixed);
    operation.flags = fixed ? OPERATION_FIXED_COST : 0;
    if (!kernel->function->spin || !effect.data) {
        *ticket = stream_push(stream, operation, &touch, effect);
        return CUDA_SUCCESS;
    }
    operation.amount = UNTIL_TOLD_NS;
    operation.flags = OPERATION_FIXED_COST | OPERATION_UNTIL_TOLD;
    *ticket = stream_push_poll(stream, operation, &touch, effect, spin);
    return CUDA_SUCCESS;
}
