/* How much of the host the managed memory of this process may take, and what happens beyond that.
 *
 * Published driver: host pages are charged to the memory cgroup of the process that owns the range. A
 * cgroup that is full ends in its OOM killer, that is, in SIGKILL (inferred). The charge itself is the
 * model's (model/host.c). */
#include "host_limit.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/quantity.h"

/* The files of one version of cgroups. */
static const struct flavour {
    const char *limit, *statistics, *anonymous;
} UNIFIED = {"memory.max", "memory.stat", "anon "},
  LEGACY = {"memory.limit_in_bytes", "memory.stat", "rss "};

static char statistics_path[PATH_MAX];
static const char *anonymous_key;

/* The first number behind a key at the beginning of a line, or behind nothing. */
static bool read_number(const char *path, const char *key, uint64_t *number) {
    char line[256];
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        char *end = line;
        if (strncmp(line, key, strlen(key)) != 0)
            continue;
        *number = strtoull(line + strlen(key), &end, 10);
        found = end != line + strlen(key);
    }
    fclose(file);
    return found;
}

/* Is `wanted` one of the words between commas? */
static bool has_word(const char *list, const char *wanted) {
    size_t length = strlen(wanted);
    for (const char *at = list; (at = strstr(at, wanted)); at += length)
        if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
            return true;
    return false;
}

/* The path of the process in a hierarchy, from a line "4:memory:/pod/container". */
static bool find_path(const char *controller, char *out, size_t bytes) {
    char line[PATH_MAX + 256];
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (!file)
        return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        controllers++;
        found = *controller ? has_word(controllers, controller) : !*controllers;
        if (found)
            snprintf(out, bytes, "%s", path);
    }
    fclose(file);
    return found;
}

/* Where a hierarchy is mounted, and what of it: fields 5 and 4 of a line of mountinfo. */
static bool find_mount(const char *type, const char *option, char *root, char *point) {
    char line[3 * PATH_MAX];
    FILE *file = fopen("/proc/self/mountinfo", "re");
    if (!file)
        return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        char kind[64], options[512];
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(rest, " - %63s %*s %511s", kind, options) != 2 ||
            strcmp(kind, type) != 0 || (*option && !has_word(options, option)))
            continue;
        found = sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) == 2;
    }
    fclose(file);
    return found;
}

/* The folder of the process's cgroup. In a container the mount may begin in the middle of the hierarchy. */
static bool find_folder(const char *type, const char *controller, char *out, size_t bytes) {
    char path[PATH_MAX], root[PATH_MAX], point[PATH_MAX];
    if (!find_path(controller, path, sizeof path) || !find_mount(type, controller, root, point))
        return false;
    const char *below = path;
    if (strcmp(root, "/") != 0 && strncmp(path, root, strlen(root)) == 0)
        below += strlen(root);
    return (size_t)snprintf(out, bytes, "%s%s", point, below) < bytes;
}

static bool read_cgroup(struct slot *slot, const char *type, const char *controller,
                        const struct flavour *flavour) {
    char folder[PATH_MAX], path[PATH_MAX + 64];
    struct stat found;
    uint64_t limit;
    if (!find_folder(type, controller, folder, sizeof folder) || stat(folder, &found) < 0)
        return false;
    snprintf(path, sizeof path, "%s/%s", folder, flavour->limit);
    if (!read_number(path, "", &limit) || limit > (uint64_t)INT64_MAX / 2)
        return false; /* "max", or a number that means it */
    snprintf(statistics_path, sizeof statistics_path, "%.*s/%s", PATH_MAX - 16, folder,
             flavour->statistics);
    anonymous_key = flavour->anonymous;
    slot->cgroup_limit = limit;
    slot->cgroup = (uint64_t)found.st_dev << 32 ^ (uint64_t)found.st_ino;
    return true;
}

static void read_limit(struct slot *slot) {
    const char *text = getenv("NVSHARE_EMULATOR_HOST_LIMIT");
    if (text && *text && quantity_parse(text, &slot->host_limit) == 0 && slot->host_limit)
        return;
    if (text && *text)
        fprintf(stderr, "nvshare emulator: NVSHARE_EMULATOR_HOST_LIMIT=%s is no amount\n", text);
    if (!read_cgroup(slot, "cgroup2", "", &UNIFIED))
        read_cgroup(slot, "cgroup", "memory", &LEGACY);
}

/* Only with `data off`: else managed memory is really there, and would count twice. */
static void note_usage(struct slot *slot, bool data) {
    uint64_t bytes;
    if (slot->cgroup && !data && read_number(statistics_path, anonymous_key, &bytes))
        slot->cgroup_bytes = bytes;
}

void host_limit_read(struct driver *new_driver) {
    struct slot *slot = &new_driver->node->slots[new_driver->slot];
    node_lock(new_driver->node);
    read_limit(slot);
    note_usage(slot, new_driver->data);
    node_unlock(new_driver->node);
}

bool host_limit_exists(void) {
    return driver_slot()->host_limit || driver_slot()->cgroup;
}

void host_limit_enforce(void) {
    note_usage(driver_slot(), driver->data);
    if (!__atomic_load_n(&driver_slot()->doomed, __ATOMIC_RELAXED))
        return;
    kill(getpid(), SIGKILL);
    /* The first process of a container takes no signal of its own, but one of the kernel's. This is what
     * such a container ends with then. */
    _exit(128 + SIGKILL);
}
