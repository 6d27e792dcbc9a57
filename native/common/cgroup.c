#include "cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cgroup_version CGROUP_V2 = {"cgroup2",        "",      "memory.max",
                                         "memory.current", "anon ", "inactive_file "};
const struct cgroup_version CGROUP_V1 = {"cgroup",
                                         "memory",
                                         "memory.limit_in_bytes",
                                         "memory.usage_in_bytes",
                                         "rss ",
                                         "total_inactive_file "};

bool cgroup_read_number(const char *path, const char *key, uint64_t *number) {
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

static FILE *open_below(const char *root, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    return fopen(path, "re");
}

/* The path of the process in a hierarchy, from a line "4:memory:/pod/container". */
static bool find_path(const char *root, const char *controller, char *out, size_t bytes) {
    char line[PATH_MAX + 256];
    FILE *file = open_below(root, "/proc/self/cgroup");
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
static bool find_mount(const char *root, const struct cgroup_version *version, char *mounted,
                       char *point) {
    char line[3 * PATH_MAX];
    FILE *file = open_below(root, "/proc/self/mountinfo");
    if (!file)
        return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        char kind[64], options[512];
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(rest, " - %63s %*s %511s", kind, options) != 2 ||
            strcmp(kind, version->mount_type) != 0 ||
            (*version->controller && !has_word(options, version->controller)))
            continue;
        found = sscanf(line, "%*s %*s %*s %4095s %4095s", mounted, point) == 2;
    }
    fclose(file);
    return found;
}

/* In a container the mount may begin in the middle of the hierarchy. */
bool cgroup_find(struct cgroup *out, const char *root, const struct cgroup_version *version) {
    char path[PATH_MAX], mounted[PATH_MAX], point[PATH_MAX];
    if (!find_path(root, version->controller, path, sizeof path) ||
        !find_mount(root, version, mounted, point))
        return false;
    const char *below = path;
    if (strcmp(mounted, "/") != 0 && strncmp(path, mounted, strlen(mounted)) == 0)
        below += strlen(mounted);
    if (strcmp(below, "/") == 0)
        below = "";
    out->version = version;
    out->mount_length = strlen(root) + strlen(point);
    size_t size = sizeof out->folder;
    return (size_t)snprintf(out->folder, size, "%s%s%s", root, point, below) < size;
}

bool cgroup_go_up(struct cgroup *group) {
    char *last = strrchr(group->folder, '/');
    if (!last || (size_t)(last - group->folder) < group->mount_length)
        return false;
    *last = '\0';
    return true;
}

bool cgroup_read(const struct cgroup *group, const char *file, const char *key, uint64_t *number) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", group->folder, file);
    return cgroup_read_number(path, key, number);
}

/* Version 1 has a very large number in place of "max". */
bool cgroup_limit(const struct cgroup *group, uint64_t *bytes) {
    return cgroup_read(group, group->version->limit, "", bytes) && *bytes <= INT64_MAX / 2;
}
