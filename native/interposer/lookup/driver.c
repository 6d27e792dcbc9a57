/* Taking over the driver, whichever way it came into the process.
 *
 * A preloaded symbol is found before the driver's, and a wrapped dlsym sees lookups by name. Both
 * fail for a plugin that is loaded with RTLD_DEEPBIND: its own dependencies (the driver, and the C
 * library's dlsym) come before anything preloaded. To wrap dlopen and remove the flag would break
 * callers' RUNPATH; to carry the driver's soname would put a driver on machines without one, and
 * hide functions of newer drivers. So the driver's symbol table itself is changed, in memory: the
 * value of each hooked symbol becomes our wrapper. Every later lookup, by any caller and in any
 * way, ends there.
 *
 * The driver is noticed when this library is loaded, and then at every dlsym, dlvsym and hooked
 * call of the program. An object that was bound to it before (a plugin that brought the driver
 * along) has its pointers in known places, its relocations; these are changed as well. One case is
 * left: a plugin loaded with RTLD_DEEPBIND which is the first to bring the driver, and uses it from
 * its constructor. Those calls go past us.
 *
 * Memory is written through /proc/self/mem, which needs no change of protection: another thread may
 * be loading a library at this moment, and must find its pages as it left them. Where that file
 * cannot be written (a hardened kernel), only preloading and dlsym are left, and the log says
 * so. */
#include "driver.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "hook_table.h"
#include "log.h"
#include "objects.h"
#include "process/config.h"

static const char *const library_names[HOOK_LIBRARIES] = {
    [HOOK_CUDA] = "libcuda.so",
    [HOOK_NVML] = "libnvidia-ml.so",
};

static struct {
    _Atomic bool is_here[HOOK_LIBRARIES];
    _Atomic unsigned long long
        looked_at; /* how many objects had ever been loaded at the last look */
} state;

/* One pass over the loaded objects. */
struct look {
    int memory; /* /proc/self/mem, or -1 */
    bool found[HOOK_LIBRARIES];
    char path[HOOK_LIBRARIES][4096];
};

bool driver_is_here(void) {
    return atomic_load_explicit(&state.is_here[HOOK_CUDA], memory_order_acquire);
}

static bool write_word(int memory, const void *place, uintptr_t word) {
    return pwrite(memory, &word, sizeof word, (off_t)(uintptr_t)place) == sizeof word;
}

/* libcuda.so, libcuda.so.1, libcuda.so.570.133, in any folder. */
static bool has_name(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(name);
    return strncmp(base, name, length) == 0 && (base[length] == '\0' || base[length] == '.');
}

/* The real address is noted before the symbol is redirected, so that a second thread that does the
 * same never takes the wrapper for the real function. */
static bool take_symbol(const struct look *look, const struct object *object,
                        const ElfW(Sym) * symbol, const struct hook *hook) {
    uintptr_t address = object->base + symbol->st_value;
    if (address == (uintptr_t)hook->wrapper)
        return true;
    hook_found(hook, (hook_function)address);
    if (!hook->wrapper || look->memory < 0)
        return true;
    return write_word(look->memory, &symbol->st_value, (uintptr_t)hook->wrapper - object->base);
}

static void take_library(struct look *look, const struct object *object,
                         enum hook_library library) {
    bool written = look->memory >= 0;
    for (size_t i = 1; i < object->symbol_count; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        if (!object_is_function(object, symbol))
            continue;
        const struct hook *hook = hook_named(object->strings + symbol->st_name);
        if (hook && hook->library == library)
            written &= take_symbol(look, object, symbol, hook);
    }
    look->found[library] = true;
    strncpy(look->path[library], object->name, sizeof look->path[library] - 1);
    if (!written)
        log_info(
            "/proc/self/mem is not writable: calls of plugins loaded with RTLD_DEEPBIND are not "
            "managed");
}

static int find_libraries(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    struct look *look = argument;
    struct object object;
    for (int library = 0; library < HOOK_LIBRARIES; library++)
        if (!atomic_load(&state.is_here[library]) && info->dlpi_name &&
            has_name(info->dlpi_name, library_names[library]) &&
            object_describe(info, &object) == 0)
            take_library(look, &object, library);
    return 0;
}

static void redirect(const struct look *look, const struct object *object) {
    for (int table = 0; table < 2; table++)
        for (size_t i = 0; i < object->relocation_count[table]; i++) {
            const ElfW(Rela) *relocation = &object->relocations[table][i];
            const void *const *place = (const void *)(object->base + relocation->r_offset);
            const struct hook *hook = object_is_pointer(relocation) ? hook_at(*place) : NULL;
            if (hook)
                write_word(look->memory, place, (uintptr_t)hook->wrapper);
        }
}

/* Redirects objects that bound to the driver before we saw it. The driver's own pointers stay: its
 * calls to itself are not the program's. */
static int redirect_object(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    struct object object;
    if (object_describe(info, &object) < 0 || object_contains(&object, &state))
        return 0;
    for (int library = 0; library < HOOK_LIBRARIES; library++)
        if (has_name(object.name, library_names[library]))
            return 0;
    redirect(argument, &object);
    return 0;
}

/* If the driver were unloaded, `real` would point at nothing. Some programs load it, look, and
 * close it again. */
static void keep_loaded(struct look *look, enum hook_library library) {
    config();
    if (!dlopen(look->path[library], RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
        log_info("%s cannot be kept loaded", look->path[library]);
    atomic_store_explicit(&state.is_here[library], true, memory_order_release);
    log_debug("found %s", look->path[library]);
}

static int count_loads(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    *(unsigned long long *)argument = info->dlpi_adds;
    return 1; /* one object is enough: all report the same */
}

static void look_again(void) {
    struct look look = {.memory = open("/proc/self/mem", O_WRONLY | O_CLOEXEC)};
    dl_iterate_phdr(find_libraries, &look);
    bool any = look.found[HOOK_CUDA] || look.found[HOOK_NVML];
    if (any && look.memory >= 0)
        dl_iterate_phdr(redirect_object, &look);
    for (int library = 0; library < HOOK_LIBRARIES; library++)
        if (look.found[library])
            keep_loaded(&look, library);
    if (look.memory >= 0)
        close(look.memory);
}

void driver_look(void) {
    int before = errno;
    unsigned long long loads = 0;
    dl_iterate_phdr(count_loads, &loads);
    if (atomic_load(&state.looked_at) != loads) {
        look_again();
        atomic_store(&state.looked_at, loads);
    }
    errno = before;
}

/* This is all that happens when the library is loaded, in every program of a shared machine. */
__attribute__((constructor)) static void start(void) {
    driver_look();
}
