/* Finding the driver, and ending with a message if something fails. */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *find(PFN_cuGetProcAddress_v12000 look_up, const char *name, int version) {
    void *function = NULL;
    CUresult result = look_up(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, NULL);
    if (result != CUDA_SUCCESS || !function) {
        fprintf(stderr, "the driver has no %s (version %d)\n", name, version);
        exit(1);
    }
    return function;
}

struct driver_functions driver_load(void) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr,
                "no GPU driver: %s\nTo try this without a GPU: nvshare emulate -- PROGRAM\n",
                dlerror());
        exit(1);
    }
    PFN_cuGetProcAddress_v12000 look_up =
        (PFN_cuGetProcAddress_v12000)dlsym(library, "cuGetProcAddress_v2");
    if (!look_up) {
        fprintf(stderr, "the driver is older than CUDA 12\n");
        exit(1);
    }
    struct driver_functions driver;
#define FIND(name, version) driver.name = find(look_up, #name, version);
    WORKLOAD_FUNCTIONS(FIND)
#undef FIND
    return driver;
}

void driver_check(const struct driver_functions *driver, CUresult result, const char *call) {
    if (result == CUDA_SUCCESS)
        return;
    const char *name = "unknown error";
    driver->cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", call, name);
    exit(1);
}
