/* Libraries of code that a program loads by itself. */
#include "runtime.h"

FORWARD(cudaLibraryLoadData,
        (cudaLibrary_t * library, const void *code, enum cudaJitOption *jitOptions,
         void **jitOptionsValues, unsigned int numJitOptions,
         enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
         unsigned int numLibraryOptions),
        cuLibraryLoadData,
        (library, code, (CUjit_option *)jitOptions, jitOptionsValues, numJitOptions,
         (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions))
FORWARD(cudaLibraryLoadFromFile,
        (cudaLibrary_t * library, const char *fileName, enum cudaJitOption *jitOptions,
         void **jitOptionsValues, unsigned int numJitOptions,
         enum cudaLibraryOption *libraryOptions, void **libraryOptionValues,
         unsigned int numLibraryOptions),
        cuLibraryLoadFromFile,
        (library, fileName, (CUjit_option *)jitOptions, jitOptionsValues, numJitOptions,
         (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions))
FORWARD(cudaLibraryUnload, (cudaLibrary_t library), cuLibraryUnload, (library))
FORWARD(cudaLibraryGetKernel, (cudaKernel_t * pKernel, cudaLibrary_t library, const char *name),
        cuLibraryGetKernel, (pKernel, library, name))
FORWARD(cudaLibraryGetKernelCount, (unsigned int *count, cudaLibrary_t lib),
        cuLibraryGetKernelCount, (count, lib))
FORWARD(cudaLibraryEnumerateKernels,
        (cudaKernel_t * kernels, unsigned int numKernels, cudaLibrary_t lib),
        cuLibraryEnumerateKernels, (kernels, numKernels, lib))
FORWARD(cudaLibraryGetGlobal, (void **dptr, size_t *bytes, cudaLibrary_t library, const char *name),
        cuLibraryGetGlobal, ((CUdeviceptr *)dptr, bytes, library, name))
FORWARD(cudaLibraryGetManaged,
        (void **dptr, size_t *bytes, cudaLibrary_t library, const char *name), cuLibraryGetManaged,
        ((CUdeviceptr *)dptr, bytes, library, name))
FORWARD(cudaLibraryGetUnifiedFunction, (void **fptr, cudaLibrary_t library, const char *symbol),
        cuLibraryGetUnifiedFunction, (fptr, library, symbol))
