/* Modules and libraries: the kernels and the global variables of one code image.
 *
 * A module belongs to a context, a library to none; otherwise they are the same. A library's
 * variables are made in each context that asks for them. */
#ifndef NVSHARE_EMULATOR_MODULE_H
#define NVSHARE_EMULATOR_MODULE_H

#include "../process/context.h"
#include "../process/function.h"
#include "../process/memory.h"

#define MODULE_MAGIC 0x4d6f6431u

/* The variables of a module in one context, by their place in the image. */
struct module_globals {
    uint32_t context; /* its number, which is never reused */
    struct module_globals *next;
    struct {
        uint64_t address;
        uint64_t allocation; /* the id: memory is freed when its context is destroyed */
    } global[];
};

struct module {
    uint32_t magic;
    bool is_library;
    struct CUctx_st *context; /* NULL for a library */
    struct image *image;
    struct function *functions; /* one per kernel of the image, in its order */
    struct module_globals *globals;
    uint32_t code_context; /* number of the context that its code is in; 0: none */
    uint64_t code_bytes;   /* on the GPU */
};

static inline struct module *module_of(CUmodule handle) {
    struct module *module = (struct module *)handle;
    return module && module->magic == MODULE_MAGIC ? module : NULL;
}

static inline struct module *library_of(CUlibrary handle) {
    struct module *module = module_of((CUmodule)handle);
    return module && module->is_library ? module : NULL;
}

/* The options of a call that loads an image. */
struct load_options {
    unsigned count;
    CUjit_option *options;
    void **values;
};

/* Reads an image for a context, or for a library if it is NULL. A size of 0 means unknown. */
CUresult module_load(struct CUctx_st *context, const void *data, size_t size,
                     const struct load_options *options, struct module **out);
CUresult module_load_file(struct CUctx_st *context, const char *path,
                          const struct load_options *options, struct module **out);
void module_unload(struct module *module);

struct function *module_function(struct module *module, const char *name);

/* A variable as a context has it. CUDA_ERROR_NOT_FOUND if there is none of that name. */
CUresult module_global(struct module *module, struct CUctx_st *context, const char *name,
                       CUdeviceptr *address, size_t *bytes);

/* The whole of a file, with a NUL behind it. */
CUresult file_read(const char *path, void **out, size_t *size);

#endif
