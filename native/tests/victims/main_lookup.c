/* Victims whose functions are looked up by name. Not linked to the driver.
 *
 *     main_lookup dlsym | dlvsym | default | proc1 | proc2 | proc2-per-thread
 *     main_lookup plugin|deepbind LIBRARY     loads a library and has it call
 *     main_lookup load LIBRARY                loads one that calls from its constructor */
#include <dlfcn.h>
#include <stdlib.h>

#include "victims.h"

static void *cuda, *nvml;

static void *library_of(const struct victim *victim) {
    return strncmp(victim->name, "nvml", 4) == 0 ? nvml : cuda;
}

static void *by_dlsym(const struct victim *victim) {
    return dlsym(library_of(victim), victim->name);
}

static void *by_dlvsym(const struct victim *victim) {
    int is_nvml = library_of(victim) == nvml;
    return dlvsym(library_of(victim), victim->name, is_nvml ? "LIBNVML_1" : "LIBCUDA_1");
}

static void *by_default(const struct victim *victim) {
    return dlsym(RTLD_DEFAULT, victim->name);
}

static void *by_proc(const struct victim *victim, const char *query, int per_thread) {
    for (const struct lookup *l = lookups; l->name; l++) {
        void *function = NULL;
        if (strcmp(l->symbol, victim->name) != 0 || l->per_thread != per_thread)
            continue;
        cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0;
        if (strcmp(query, "cuGetProcAddress") == 0) {
            __typeof__(cuGetProcAddress) *get = (__typeof__(get))dlsym(cuda, query);
            get(l->name, &function, l->version, flags);
        } else {
            CUdriverProcAddressQueryResult status;
            __typeof__(cuGetProcAddress_v2) *get = (__typeof__(get))dlsym(cuda, query);
            get(l->name, &function, l->version, flags, &status);
        }
        return function;
    }
    return NULL;
}

static void *by_proc1(const struct victim *victim) {
    return by_proc(victim, "cuGetProcAddress", 0);
}

static void *by_proc2(const struct victim *victim) {
    return by_proc(victim, "cuGetProcAddress_v2", 0);
}

static void *by_proc2_per_thread(const struct victim *victim) {
    return by_proc(victim, "cuGetProcAddress_v2", 1);
}

static int run_plugin(const char *path, int flags) {
    void *plugin = dlopen(path, RTLD_NOW | flags);
    int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_run") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return run();
}

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    if (strcmp(how, "plugin") == 0)
        return run_plugin(arguments[2], 0);
    if (strcmp(how, "deepbind") == 0)
        return run_plugin(arguments[2], RTLD_DEEPBIND);
    if (strcmp(how, "load") == 0)
        return dlopen(arguments[2], RTLD_NOW) ? 0 : 2;
    cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (strcmp(how, "dlsym") == 0)
        return victims_run(how, by_dlsym);
    if (strcmp(how, "dlvsym") == 0)
        return victims_run(how, by_dlvsym);
    if (strcmp(how, "default") == 0)
        return victims_run(how, by_default);
    if (strcmp(how, "proc1") == 0)
        return victims_run(how, by_proc1);
    if (strcmp(how, "proc2") == 0)
        return victims_run(how, by_proc2);
    return victims_run(how, by_proc2_per_thread);
}
