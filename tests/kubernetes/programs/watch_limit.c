/* Writes down when the size of its GPU changes, as the program sees it: "<ns> <bytes>", where the
 * nanoseconds are those of CLOCK_MONOTONIC, which all processes of a machine share. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int call_init(unsigned flags);
typedef int call_device(int *device, int ordinal);
typedef int call_context(void **context, unsigned flags, int device);
typedef int call_info(size_t *free_bytes, size_t *total);

static void *driver;

static void *find(const char *name) {
    void *found = dlsym(driver, name);
    if (!found) {
        fprintf(stderr, "no %s\n", name);
        exit(1);
    }
    return found;
}

static void check(int result, const char *what) {
    if (result != 0) {
        fprintf(stderr, "%s: %d\n", what, result);
        exit(1);
    }
}

int main(void) {
    int device;
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    check(((call_init *)find("cuInit"))(0), "cuInit");
    check(((call_device *)find("cuDeviceGet"))(&device, 0), "cuDeviceGet");
    check(((call_context *)find("cuCtxCreate_v2"))(&context, 0, device), "cuCtxCreate");
    call_info *info = (call_info *)find("cuMemGetInfo_v2");
    for (size_t last = 0;;) {
        size_t free_bytes, total;
        check(info(&free_bytes, &total), "cuMemGetInfo");
        if (total != last) {
            struct timespec now;
            clock_gettime(CLOCK_MONOTONIC, &now);
            printf("%lld %zu\n", now.tv_sec * 1000000000ll + now.tv_nsec, total);
            fflush(stdout);
            last = total;
        }
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}
