/* Calls every victim, each function found in one way. */
#include <dlfcn.h>
#include <stdlib.h>

#include "victims.h"

struct note expected;
char victim_page[64][256];

static int (*find_cuda)(const char *), (*find_nvml)(const char *);
static int failures;

static void fail(const char *name, const char *what, int number) {
    fprintf(stderr, "%s: %s (%d)\n", name, what, number);
    failures++;
}

void expect_begin(const char *name) {
    find_cuda("");
    if (find_nvml)
        find_nvml("");
    memset(victim_page, 0, sizeof victim_page);
    note_begin(&expected, name);
}

int check(const char *name, int result, int wanted) {
    int (*find)(const char *) = strncmp(name, "nvml", 4) == 0 ? find_nvml : find_cuda;
    int times = find(expected.text);
    const char *answered = getenv("VICTIMS_ANSWERED"); /* by the interposer itself, on purpose */
    if (answered && strcmp(answered, name) == 0)
        return 0;
    if (times != 1)
        fail(name, "did not reach the driver once, with the same arguments", times);
    if (result != wanted)
        fail(name, "did not return what the driver returned", result);
    return 0;
}

/* The library that contains a function. */
static int is_wrapper(void *function) {
    Dl_info info;
    return dladdr(function, &info) && strstr(info.dli_fname, "libnvshare.so");
}

static void attach(void) {
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_GLOBAL);
    find_cuda = (int (*)(const char *))dlsym(cuda, "recorder_find_cuda");
    find_nvml = (int (*)(const char *))dlsym(nvml, "recorder_find_nvml");
}

int victims_run(const char *loader, void *(*find)(const struct victim *victim)) {
    int called = 0, wrapped = 0;
    attach();
    for (const struct victim *victim = victims; victim->name; victim++) {
        void *function = find(victim);
        if (!function)
            continue;
        called++;
        if (is_wrapper(function))
            wrapped++;
        else if (getenv("LD_PRELOAD"))
            fail(victim->name, "was found past the interposer", 0);
        victim->call(function);
    }
    printf("%s called=%d wrapped=%d failures=%d\n", loader, called, wrapped, failures);
    return failures != 0;
}
