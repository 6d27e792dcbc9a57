/* The hooks as a table: names to wrappers. Generated from hooks.def. */
#ifndef NVSHARE_HOOK_TABLE_H
#define NVSHARE_HOOK_TABLE_H

#include <stddef.h>

#include "driver.h"

typedef void (*hook_function)(void);

enum hook_library { HOOK_CUDA, HOOK_NVML, HOOK_LIBRARIES };

struct hook {
    const char *name;
    hook_function wrapper; /* NULL: we only call it */
    size_t slot;           /* of the real function, in struct driver_calls */
    enum hook_library library;
};

/* The function that cuGetProcAddress returns for a name and a CUDA version. */
struct hook_version {
    const char *name;
    int version;
    int hook; /* index in hook_table; -1: that version is not hooked */
    int per_thread_version;
    int per_thread_hook;
};

extern const struct hook hook_table[]; /* sorted by name */
extern const size_t hook_count;
extern const struct hook_version hook_versions[]; /* sorted by name, then version */
extern const size_t hook_version_count;
extern const int hook_newest_version; /* the CUDA_VERSION of the header this was made from */

/* The hook of a name, or NULL. */
const struct hook *hook_named(const char *name);

/* The hook whose real function is at an address, or NULL. */
const struct hook *hook_at(const void *address);

/* The real function of a hook, or NULL if the driver has none. */
hook_function hook_real(const struct hook *hook);

/* Notes the real function of a hook. */
void hook_found(const struct hook *hook, hook_function function);

#endif
