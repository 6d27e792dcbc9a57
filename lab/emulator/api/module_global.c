/* The global variables of modules: plain device memory, made when a context first asks. */
#include "module.h"

#include <stdlib.h>
#include <string.h>

static CUresult make_global(const struct image_global *global, struct CUctx_st *context,
                            struct allocation **out) {
    CUresult result =
        memory_allocate_plain(context, context->gpu, global->bytes ? global->bytes : 1, out);
    if (result != CUDA_SUCCESS)
        return result;
    void *bytes = memory_resolve((*out)->address);
    if (!bytes)
        return CUDA_SUCCESS; /* nothing is stored: `data off` */
    if (global->initial)
        memcpy(bytes, global->initial, global->bytes);
    else
        memset(bytes, 0, global->bytes); /* the memory may have been used before */
    return CUDA_SUCCESS;
}

static CUresult make_globals(struct module *module, struct CUctx_st *context,
                             struct module_globals **out) {
    size_t count = module->image->global_count;
    struct module_globals *globals = calloc(1, sizeof *globals + count * sizeof globals->global[0]);
    REQUIRE(globals, CUDA_ERROR_OUT_OF_MEMORY);
    globals->context = context->number;
    /* Linked at once, so that the module frees even an incomplete set. */
    globals->next = module->globals;
    module->globals = globals;
    for (size_t i = 0; i < count; i++) {
        struct allocation *allocation;
        CUresult result = make_global(&module->image->globals[i], context, &allocation);
        if (result != CUDA_SUCCESS)
            return result;
        globals->global[i].address = allocation->address;
        globals->global[i].allocation = allocation->id;
    }
    *out = globals;
    return CUDA_SUCCESS;
}

static CUresult globals_in(struct module *module, struct CUctx_st *context,
                           struct module_globals **out) {
    for (struct module_globals *g = module->globals; g; g = g->next) {
        if (g->context == context->number) {
            *out = g;
            return CUDA_SUCCESS;
        }
    }
    return make_globals(module, context, out);
}

CUresult module_global(struct module *module, struct CUctx_st *context, const char *name,
                       CUdeviceptr *address, size_t *bytes) {
    const struct image *image = module->image;
    size_t place = 0;
    while (place < image->global_count && strcmp(image->globals[place].name, name) != 0)
        place++;
    REQUIRE(place < image->global_count, CUDA_ERROR_NOT_FOUND);
    struct module_globals *globals;
    driver_lock();
    CUresult result = globals_in(module, context, &globals);
    driver_unlock();
    if (result != CUDA_SUCCESS)
        return result;
    REQUIRE(globals->global[place].address,
            CUDA_ERROR_OUT_OF_MEMORY); /* the first asker was told */
    if (address)
        *address = globals->global[place].address;
    if (bytes)
        *bytes = image->globals[place].bytes;
    return CUDA_SUCCESS;
}
