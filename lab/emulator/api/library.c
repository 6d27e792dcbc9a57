/* Libraries: code that belongs to no context, and its kernels. */
#include "function_attribute.h"
#include "module.h"

static struct function *kernel_of(CUkernel handle) {
    return function_of((CUfunction)handle);
}

/* The options are ignored. They say how long the caller keeps the image, which is copied here
 * anyway, or concern the undocumented part of the runtime. */
CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
                           void **jitOptionsValues, unsigned int numJitOptions,
                           CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions) {
    REQUIRE_DRIVER();
    (void)libraryOptionValues;
    REQUIRE(library && (libraryOptions || !numLibraryOptions), CUDA_ERROR_INVALID_VALUE);
    struct load_options options = {numJitOptions, jitOptions, jitOptionsValues};
    return module_load(NULL, code, 0, &options, (struct module **)library);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions,
                               CUlibraryOption *libraryOptions, void **libraryOptionValues,
                               unsigned int numLibraryOptions) {
    REQUIRE_DRIVER();
    (void)libraryOptionValues;
    REQUIRE(library && (libraryOptions || !numLibraryOptions), CUDA_ERROR_INVALID_VALUE);
    struct load_options options = {numJitOptions, jitOptions, jitOptionsValues};
    return module_load_file(NULL, fileName, &options, (struct module **)library);
}

CUresult cuLibraryUnload(CUlibrary library) {
    REQUIRE_DRIVER();
    struct module *module = library_of(library);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    module_unload(module);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name) {
    REQUIRE_DRIVER();
    REQUIRE(library_of(library), CUDA_ERROR_INVALID_HANDLE);
    return cuModuleGetFunction((CUfunction *)pKernel, (CUmodule)library, name);
}

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib) {
    REQUIRE_DRIVER();
    REQUIRE(library_of(lib), CUDA_ERROR_INVALID_HANDLE);
    return cuModuleGetFunctionCount(count, (CUmodule)lib);
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int numKernels, CUlibrary lib) {
    REQUIRE_DRIVER();
    REQUIRE(library_of(lib), CUDA_ERROR_INVALID_HANDLE);
    return cuModuleEnumerateFunctions((CUfunction *)kernels, numKernels, (CUmodule)lib);
}

/* A library serves as its own module: its functions find their context when they are used. */
CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(pMod, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(library_of(library), CUDA_ERROR_INVALID_HANDLE);
    *pMod = (CUmodule)library;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name) {
    REQUIRE_CONTEXT(context);
    REQUIRE(name && (dptr || bytes), CUDA_ERROR_INVALID_VALUE);
    struct module *module = library_of(library);
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    return module_global(module, context, name, dptr, bytes);
}

/* Images do not distinguish managed variables from others, so none counts as managed. */
CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library,
                             const char *name) {
    REQUIRE_DRIVER();
    REQUIRE(name && (dptr || bytes), CUDA_ERROR_INVALID_VALUE);
    return library_of(library) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol) {
    REQUIRE_DRIVER();
    REQUIRE(fptr && symbol, CUDA_ERROR_INVALID_VALUE);
    return library_of(library) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(pFunc, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(kernel_of(kernel), CUDA_ERROR_INVALID_HANDLE);
    *pFunc = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *pLib, CUkernel kernel) {
    REQUIRE_DRIVER();
    REQUIRE(pLib, CUDA_ERROR_INVALID_VALUE);
    struct function *function = kernel_of(kernel);
    REQUIRE(function && function->module->is_library, CUDA_ERROR_INVALID_HANDLE);
    *pLib = (CUlibrary)function->module;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel hfunc) {
    return cuFuncGetName(name, (CUfunction)hfunc);
}

CUresult cuKernelGetAttribute(int *pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev) {
    REQUIRE_DEVICE(dev);
    REQUIRE(pi, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(kernel_of(kernel), CUDA_ERROR_INVALID_HANDLE);
    return function_get(kernel_of(kernel), gpu_of_device(dev), attrib, pi);
}

/* Kept once, and not per device: a program sets an attribute for the device that it runs on. */
CUresult cuKernelSetAttribute(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev) {
    REQUIRE_DEVICE(dev);
    REQUIRE(kernel_of(kernel), CUDA_ERROR_INVALID_HANDLE);
    return function_set(kernel_of(kernel), gpu_of_device(dev), attrib, val);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice dev) {
    REQUIRE_DEVICE(dev);
    return cuFuncSetCacheConfig((CUfunction)kernel, config);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t paramIndex, size_t *paramOffset,
                              size_t *paramSize) {
    return cuFuncGetParamInfo((CUfunction)kernel, paramIndex, paramOffset, paramSize);
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t *paramCount) {
    return cuFuncGetParamCount((CUfunction)kernel, paramCount);
}
