/* The linker. It links nothing: no code runs here, so a kernel does not need the functions that it
 * calls. It keeps the image that has the kernels and hands it back unchanged. If several inputs
 * have kernels, all but one are lost, and a message says so. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unsupported.h"
#include "jit.h"
#include "module.h"

#define LINK_MAGIC 0x4c6e6b31u

struct CUlinkState_st {
    uint32_t magic;
    unsigned option_count;
    CUjit_option *options; /* the program keeps the arrays until the end, as documented */
    void **values;
    void *image;
    size_t size;
    size_t kernels; /* in the image that is kept */
};

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option *options, void **optionValues,
                         CUlinkState *stateOut) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(stateOut && (!numOptions || (options && optionValues)), CUDA_ERROR_INVALID_VALUE);
    CUlinkState state = calloc(1, sizeof *state);
    REQUIRE(state, CUDA_ERROR_OUT_OF_MEMORY);
    *state = (struct CUlinkState_st){.magic = LINK_MAGIC,
                                     .option_count = numOptions,
                                     .options = options,
                                     .values = optionValues};
    *stateOut = state;
    return CUDA_SUCCESS;
}

static bool is_link(CUlinkState state) {
    return state && state->magic == LINK_MAGIC;
}

/* Text gets a NUL at its end, for a loader that is not given the size. */
static void *copy_image(const void *data, size_t size) {
    char *copy = malloc(size + 1);
    if (copy) {
        memcpy(copy, data, size);
        copy[size] = '\0';
    }
    return copy;
}

static CUresult keep(CUlinkState state, const void *data, size_t size, size_t kernels) {
    if (state->kernels && kernels)
        fprintf(stderr, "nvshare emulator: linking is not emulated: cuLinkComplete will return "
                        "the kernels of only one input\n");
    if (state->image && !kernels)
        return CUDA_SUCCESS;
    void *copy = copy_image(data, size);
    REQUIRE(copy, CUDA_ERROR_OUT_OF_MEMORY);
    free(state->image);
    state->image = copy;
    state->size = size;
    state->kernels = kernels;
    return CUDA_SUCCESS;
}

/* Loaded as a test, so that the call that adds a wrong input fails. */
static CUresult add_image(CUlinkState state, const void *data, size_t size) {
    REQUIRE_CONTEXT(context);
    struct module *trial;
    struct load_options options = {state->option_count, state->options, NULL};
    /* The log sizes in the values are overwritten when they are answered, and are needed again. */
    void **values = calloc(state->option_count + 1, sizeof *values);
    REQUIRE(values, CUDA_ERROR_OUT_OF_MEMORY);
    if (state->option_count)
        memcpy(values, state->values, state->option_count * sizeof *values);
    options.values = values;
    CUresult result = module_load(context, data, size, &options, &trial);
    if (result == CUDA_SUCCESS) {
        result = keep(state, data, size, trial->image->kernel_count);
        module_unload(trial);
    } else if (state->option_count) {
        memcpy(state->values, values, state->option_count * sizeof *values);
    }
    free(values);
    return result;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size,
                          const char *name, unsigned int numOptions, CUjit_option *options,
                          void **optionValues) {
    REQUIRE_DRIVER();
    (void)name, (void)numOptions, (void)options, (void)optionValues;
    REQUIRE(is_link(state), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(data && size, CUDA_ERROR_INVALID_VALUE);
    switch (type) {
    case CU_JIT_INPUT_PTX:
        while (size && !((const char *)data)[size - 1])
            size--; /* programs differ in whether they count the NUL */
        return size ? add_image(state, data, size) : CUDA_ERROR_INVALID_PTX;
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_FATBINARY: return add_image(state, data, size);
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
        return CUDA_SUCCESS; /* functions for kernels to call, and no kernel runs code here */
    case CU_JIT_INPUT_NVVM: return emulator_unsupported("cuLinkAddData with NVVM");
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path,
                          unsigned int numOptions, CUjit_option *options, void **optionValues) {
    REQUIRE_DRIVER();
    REQUIRE(is_link(state), CUDA_ERROR_INVALID_HANDLE);
    void *bytes;
    size_t size;
    CUresult result = file_read(path, &bytes, &size);
    if (result != CUDA_SUCCESS)
        return result;
    result = cuLinkAddData_v2(state, type, bytes, size, path, numOptions, options, optionValues);
    free(bytes);
    return result;
}

CUresult cuLinkComplete(CUlinkState state, void **cubinOut, size_t *sizeOut) {
    REQUIRE_DRIVER();
    REQUIRE(is_link(state), CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(cubinOut && state->image, CUDA_ERROR_INVALID_VALUE);
    jit_answer(state->option_count, state->options, state->values, "");
    *cubinOut = state->image;
    /* Includes the NUL, so that a program which copies this many bytes gets it. */
    if (sizeOut)
        *sizeOut = state->size + 1;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
    REQUIRE_DRIVER();
    REQUIRE(is_link(state), CUDA_ERROR_INVALID_HANDLE);
    state->magic = 0;
    free(state->image);
    free(state);
    return CUDA_SUCCESS;
}
