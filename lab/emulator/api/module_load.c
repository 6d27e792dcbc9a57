/* Modules: read from an image, and taken down. The API is in module.c and library.c. */
#include "module.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "jit.h"

enum { SHARED_BY_DEFAULT = 48 * 1024 }; /* per block, on any GPU; a kernel must ask for more */

static CUresult error_of(int result) {
    switch (result) {
    case 0: return CUDA_SUCCESS;
    case -EINVAL: return CUDA_ERROR_INVALID_PTX;
    case -ENOEXEC: return CUDA_ERROR_NO_BINARY_FOR_GPU;
    case -ENOTSUP: return CUDA_ERROR_NOT_SUPPORTED;
    case -ENOMEM: return CUDA_ERROR_OUT_OF_MEMORY;
    default: return CUDA_ERROR_INVALID_IMAGE;
    }
}

/* A library is for all GPUs, but is read once: for the GPU of the calling thread, or the first. */
static bool choose_gpu(const struct CUctx_st *context, uint32_t *gpu) {
    if (!context)
        context = context_current();
    if (!context && !driver->visible_count)
        return false;
    *gpu = context ? context->gpu : driver->visible[0];
    return true;
}

/* Only our own modules have kernels that compute. A program's kernel that happens to have the same
 * name as one of ours is left alone. */
static bool is_ours(const struct image *image) {
    for (size_t i = 0; i < image->global_count; i++)
        if (strcmp(image->globals[i].name, "nvshare_named_kernels") == 0)
            return true;
    return false;
}

static struct function make_function(struct module *module, const struct image_kernel *kernel,
                                     bool ours) {
    struct function function = {
        .magic = FUNCTION_MAGIC, .module = module, .image = kernel, .preferred_carveout = -1};
    function.max_dynamic_shared = SHARED_BY_DEFAULT - kernel->shared_bytes;
    if (function.max_dynamic_shared < 0)
        function.max_dynamic_shared = 0;
    const struct named_kernel *named = ours ? kernels_find(kernel->name) : NULL;
    if (named) {
        function.body = named->body;
        function.cost = named->cost;
        function.spans = named->spans;
        function.spin = named->spin;
    }
    return function;
}

static CUresult make_module(struct CUctx_st *context, struct image *image, struct module **out) {
    struct module *module = calloc(1, sizeof *module);
    REQUIRE(module, CUDA_ERROR_OUT_OF_MEMORY);
    *module = (struct module){
        .magic = MODULE_MAGIC, .is_library = !context, .context = context, .image = image};
    module->functions = calloc(image->kernel_count + 1, sizeof *module->functions);
    if (!module->functions) {
        free(module);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    bool ours = is_ours(image);
    for (size_t i = 0; i < image->kernel_count; i++)
        module->functions[i] = make_function(module, &image->kernels[i], ours);
    *out = module;
    return CUDA_SUCCESS;
}

/* An unsupported image is a gap in the emulator, and a message tells the user. An invalid image is
 * the program's error, and goes to its log. */
static CUresult read_image(const void *data, size_t size, uint32_t gpu,
                           const struct load_options *options, struct image **out) {
    char why[512] = "";
    const struct gpu_profile *profile = gpu_profile(gpu);
    int capability = (int)(profile->compute_major * 10 + profile->compute_minor);
    int result = image_load(data, size, capability, out, why, sizeof why);
    jit_answer(options->count, options->options, options->values, why);
    if (result == -ENOTSUP)
        fprintf(stderr, "nvshare emulator: a module cannot be loaded: %s\n", why);
    return error_of(result);
}

/* Code takes room in its context: the bytes of the image, in whole chunks. That is assumed: what
 * the driver makes of an image is not published. A library's code counts in the context that is
 * current when it is loaded. */
static CUresult place_code(struct module *module) {
    struct CUctx_st *context = module->context ? module->context : context_current();
    if (!context)
        return CUDA_SUCCESS;
    uint64_t bytes = (module->image->bytes / BLOCK_BYTES + 1) * BLOCK_BYTES;
    CUresult result = context_take_code(context, bytes);
    if (result == CUDA_SUCCESS) {
        module->code_context = context->number;
        module->code_bytes = bytes;
    }
    return result;
}

CUresult module_load(struct CUctx_st *context, const void *data, size_t size,
                     const struct load_options *options, struct module **out) {
    REQUIRE(data && out, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!options->count || (options->options && options->values), CUDA_ERROR_INVALID_VALUE);
    uint32_t gpu;
    REQUIRE(choose_gpu(context, &gpu), CUDA_ERROR_NO_DEVICE);
    CUresult result = capture_forbids_unsafe();
    struct image *image = NULL;
    if (result == CUDA_SUCCESS)
        result = read_image(data, size, gpu, options, &image);
    if (result != CUDA_SUCCESS)
        return result;
    struct module *module;
    result = make_module(context, image, &module);
    if (result != CUDA_SUCCESS) {
        image_free(image);
        return result;
    }
    result = place_code(module);
    if (result == CUDA_SUCCESS)
        *out = module;
    else
        module_unload(module);
    return result;
}

CUresult file_read(const char *path, void **out, size_t *size) {
    REQUIRE(path, CUDA_ERROR_INVALID_VALUE);
    FILE *file = fopen(path, "rb");
    REQUIRE(file, errno == ENOENT ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_ERROR_OPERATING_SYSTEM);
    char *bytes = NULL;
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (end >= 0 && fseek(file, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)end + 1);
    bool complete = bytes && fread(bytes, 1, (size_t)end, file) == (size_t)end;
    fclose(file);
    if (!complete) {
        free(bytes);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    bytes[end] = '\0';
    *out = bytes;
    *size = (size_t)end;
    return CUDA_SUCCESS;
}

CUresult module_load_file(struct CUctx_st *context, const char *path,
                          const struct load_options *options, struct module **out) {
    void *bytes;
    size_t size;
    CUresult result = file_read(path, &bytes, &size);
    if (result != CUDA_SUCCESS)
        return result;
    /* An empty file must not look like one of unknown size; as text, it is no PTX. */
    result = size ? module_load(context, bytes, size, options, out) : CUDA_ERROR_INVALID_IMAGE;
    free(bytes);
    return result;
}

void module_unload(struct module *module) {
    driver_lock();
    while (module->globals) {
        struct module_globals *globals = module->globals;
        module->globals = globals->next;
        for (size_t i = 0; i < module->image->global_count; i++) {
            struct allocation *allocation = memory_find(globals->global[i].address);
            if (allocation && allocation->id == globals->global[i].allocation)
                memory_release(allocation);
        }
        free(globals);
    }
    driver_unlock();
    if (module->code_context)
        context_give_code(module->code_context, module->code_bytes);
    for (size_t i = 0; i < module->image->kernel_count; i++)
        module->functions[i].magic = 0;
    module->magic = 0;
    image_free(module->image);
    free(module->functions);
    free(module);
}

struct function *module_function(struct module *module, const char *name) {
    for (size_t i = 0; i < module->image->kernel_count; i++)
        if (strcmp(module->image->kernels[i].name, name) == 0)
            return &module->functions[i];
    return NULL;
}
