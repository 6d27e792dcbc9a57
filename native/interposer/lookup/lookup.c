/* The ways in which a program looks a function up by name: dlsym, dlvsym, cuGetProcAddress.
 *
 * dlopen is not among them, and never will be: the C library takes the caller's RUNPATH from the
 * return address, and a wrapper would put its own there. dlsym has the same trait for RTLD_NEXT and
 * RTLD_DEFAULT; there the wrapper is a jump, which leaves the caller's return address in place. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "driver.h"
#include "hook_table.h"
#include "log.h"
#include "objects.h"

typedef void *(*dlsym_function)(void *, const char *);
typedef void *(*dlvsym_function)(void *, const char *, const char *);

static struct {
    dlsym_function dlsym;
    dlvsym_function dlvsym;
} libc;

/* The C library's functions, or those of another library preloaded after us. They are read from the
 * symbol tables, since every other way of asking would lead back here. */
static int find_next(struct dl_phdr_info *info, size_t size, void *past_us) {
    (void)size;
    struct object object;
    if (object_describe(info, &object) < 0)
        return 0;
    if (object_contains(&object, &libc)) {
        *(bool *)past_us = true;
        return 0;
    }
    if (!*(bool *)past_us)
        return 0;
    void *plain = object_function(&object, "dlsym"),
         *versioned = object_function(&object, "dlvsym");
    if (!plain || !versioned)
        return 0;
    __atomic_store_n(&libc.dlvsym, (dlvsym_function)versioned, __ATOMIC_RELEASE);
    __atomic_store_n(&libc.dlsym, (dlsym_function)plain, __ATOMIC_RELEASE);
    return 1;
}

static void *no_dlsym(void *handle, const char *name) {
    (void)handle;
    (void)name;
    return NULL;
}

static void *no_dlvsym(void *handle, const char *name, const char *version) {
    (void)version;
    return no_dlsym(handle, name);
}

COLD static void find_libc(void) {
    bool past_us = false;
    if (!dl_iterate_phdr(find_next, &past_us)) {
        /* We were loaded by hand, behind the C library: then the first one found will do. */
        past_us = true;
        dl_iterate_phdr(find_next, &past_us);
    }
    if (!libc.dlsym) {
        log_warn_once("the C library's dlsym was not found");
        libc.dlvsym = no_dlvsym;
        libc.dlsym = no_dlsym;
    }
}

static dlsym_function real_dlsym(void) {
    if (!__atomic_load_n(&libc.dlsym, __ATOMIC_ACQUIRE))
        find_libc();
    return libc.dlsym;
}

static dlvsym_function real_dlvsym(void) {
    real_dlsym();
    return libc.dlvsym;
}

/* Our exported names exist with or without a driver. A program that asks for one without a driver
 * in the process must get the same answer as without us, dlerror included. */
static bool is_backed(const struct hook *hook) {
    return hook_real(hook) != NULL;
}

/* What the program would find without us: nothing, or a library preloaded after us. The C library
 * takes the caller from the return address, so this one must be a call and not a jump. */
COLD static void *find_behind_us(const char *name) {
    void *found = real_dlsym()(RTLD_NEXT, name);
    __asm__ volatile("" : "+r"(found));
    return found;
}

static bool depends_on_caller(const void *handle) {
    return handle == RTLD_NEXT || handle == RTLD_DEFAULT;
}

static void *wrapper_of(const struct hook *hook, void *found) {
    return found == (void *)hook_real(hook) ? (void *)hook->wrapper : found;
}

static const struct hook *wrapped_hook(const char *name) {
    driver_look();
    const struct hook *hook = hook_named(name);
    return hook && hook->wrapper ? hook : NULL;
}

EXPORTED void *dlsym(void *restrict handle, const char *restrict name) {
    const struct hook *hook = wrapped_hook(name);
    if (!hook || (depends_on_caller(handle) && is_backed(hook)))
        return real_dlsym()(handle, name);
    void *found = depends_on_caller(handle) ? NULL : real_dlsym()(handle, name);
    if (!is_backed(hook) && (!found || found == (void *)hook->wrapper))
        return find_behind_us(name);
    return wrapper_of(hook, found);
}

EXPORTED void *dlvsym(void *restrict handle, const char *restrict name,
                      const char *restrict version) {
    const struct hook *hook = wrapped_hook(name);
    if (!hook || (depends_on_caller(handle) && is_backed(hook)))
        return real_dlvsym()(handle, name, version);
    void *found = depends_on_caller(handle) ? NULL : real_dlvsym()(handle, name, version);
    if (!is_backed(hook) && (!found || found == (void *)hook->wrapper))
        return find_behind_us(name);
    return wrapper_of(hook, found);
}

/* The newest version of a name that is no newer than asked for: the driver's rule. */
static const struct hook *hook_of_version(const char *name, int version, cuuint64_t flags) {
    const struct hook_version *best = NULL;
    for (size_t i = 0; i < hook_version_count; i++)
        if (strcmp(hook_versions[i].name, name) == 0 && hook_versions[i].version <= version)
            best = &hook_versions[i];
    if (!best)
        return NULL;
    bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM &&
                      best->per_thread_version && best->per_thread_version <= version;
    int index = per_thread ? best->per_thread_hook : best->hook;
    return index < 0 ? NULL : &hook_table[index];
}

/* The address tells for certain which function it is. A driver may hand out another address than it
 * exports; then the name and version tell. But never above the version of our header, since the
 * function may be a newer one with other parameters: then the program gets the driver's own. */
static void *wrapper_for(const char *name, void *found, int version, cuuint64_t flags) {
    const struct hook *hook = hook_at(found);
    if (hook)
        return (void *)hook->wrapper;
    if (version > hook_newest_version) {
        if (hook_of_version(name, hook_newest_version, flags))
            log_info("%s of CUDA %d is newer than this version of nvshare, and is not managed",
                     name, version);
        return found;
    }
    hook = hook_of_version(name, version, flags);
    if (!hook)
        return found;
    if (!hook_real(hook))
        hook_found(hook, (hook_function)found);
    return (void *)hook->wrapper;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus) {
    driver_need();
    CUresult result = real.cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, symbolStatus);
    if (result == CUDA_SUCCESS && *pfn)
        *pfn = wrapper_for(symbol, *pfn, cudaVersion, flags);
    return result;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags) {
    driver_need();
    CUresult result = real.cuGetProcAddress(symbol, pfn, cudaVersion, flags);
    if (result == CUDA_SUCCESS && *pfn)
        *pfn = wrapper_for(symbol, *pfn, cudaVersion, flags);
    return result;
}
