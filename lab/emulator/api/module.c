/* Modules: code that belongs to a context. */
#include "module.h"

static CUresult load(CUmodule *out, const void *image, const struct load_options *options) {
    REQUIRE_CONTEXT(context);
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    return module_load(context, image, 0, options, (struct module **)out);
}

CUresult cuModuleLoad(CUmodule *module, const char *fname) {
    REQUIRE_CONTEXT(context);
    REQUIRE(module, CUDA_ERROR_INVALID_VALUE);
    return module_load_file(context, fname, &(struct load_options){0}, (struct module **)module);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return load(module, image, &(struct load_options){0});
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
                            CUjit_option *options, void **optionValues) {
    return load(module, image, &(struct load_options){numOptions, options, optionValues});
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin) {
    return load(module, fatCubin, &(struct load_options){0});
}

/* Work in flight may still read the variables. The kernels themselves no longer need the module. */
CUresult cuModuleUnload(CUmodule hmod) {
    REQUIRE_DRIVER();
    struct module *module = module_of(hmod);
    REQUIRE(module && !module->is_library, CUDA_ERROR_INVALID_HANDLE);
    if (module->globals && context_exists(module->context))
        context_synchronize(module->context);
    module_unload(module);
    return CUDA_SUCCESS;
}

/* Images are read when a module is loaded, so no code is left to load later. */
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    REQUIRE_DRIVER();
    REQUIRE(mode, CUDA_ERROR_INVALID_VALUE);
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name) {
    REQUIRE_DRIVER();
    REQUIRE(hfunc && name, CUDA_ERROR_INVALID_VALUE);
    struct module *module = module_of(hmod);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    struct function *function = module_function(module, name);
    REQUIRE(function, CUDA_ERROR_NOT_FOUND);
    *hfunc = (CUfunction)function;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod) {
    REQUIRE_DRIVER();
    REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(module_of(mod), CUDA_ERROR_INVALID_HANDLE);
    *count = (unsigned)module_of(mod)->image->kernel_count;
    return CUDA_SUCCESS;
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
                                    CUmodule mod) {
    REQUIRE_DRIVER();
    REQUIRE(functions && numFunctions, CUDA_ERROR_INVALID_VALUE);
    struct module *module = module_of(mod);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    for (unsigned i = 0; i < numFunctions && i < module->image->kernel_count; i++)
        functions[i] = (CUfunction)&module->functions[i];
    return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name) {
    REQUIRE_CONTEXT(current);
    REQUIRE(name && (dptr || bytes), CUDA_ERROR_INVALID_VALUE);
    struct module *module = module_of(hmod);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    return module_global(module, module->context ? module->context : current, name, dptr, bytes);
}

/* CUDA 12 removed texture and surface references; images do not have them. */
CUresult cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name) {
    REQUIRE_DRIVER();
    REQUIRE(pTexRef && name, CUDA_ERROR_INVALID_VALUE);
    return module_of(hmod) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name) {
    REQUIRE_DRIVER();
    REQUIRE(pSurfRef && name, CUDA_ERROR_INVALID_VALUE);
    return module_of(hmod) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
}
