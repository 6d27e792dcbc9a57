/* The memory cgroup of this process, of either version: where it is, and what its files say. */
#ifndef NVSHARE_CGROUP_H
#define NVSHARE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The names that one version of cgroups uses. */
struct cgroup_version {
    const char *mount_type, *controller; /* how its hierarchy is found */
    const char *limit, *usage;           /* files with one number, or a word that means no limit */
    const char *anonymous, *inactive;    /* keys of memory.stat */
};

extern const struct cgroup_version CGROUP_V2, CGROUP_V1;

struct cgroup {
    const struct cgroup_version *version;
    char folder[PATH_MAX];
    /* The part of the folder that the hierarchy is mounted at. Nothing above it is visible. */
    size_t mount_length;
};

/* Finds the process's own cgroup. Files are looked for below `root`: "" outside of tests. */
bool cgroup_find(struct cgroup *out, const char *root, const struct cgroup_version *version);

/* Goes one level up. Returns false at the top of what is visible. */
bool cgroup_go_up(struct cgroup *group);

/* The first number of a file, or of its line that begins with `key`. Returns false if there is
 * none; "max" is no number. */
bool cgroup_read(const struct cgroup *group, const char *file, const char *key, uint64_t *number);

/* The limit in bytes. Returns false if there is none. */
bool cgroup_limit(const struct cgroup *group, uint64_t *bytes);

/* The first number behind a key at the beginning of a line of any file. */
bool cgroup_read_number(const char *path, const char *key, uint64_t *number);

#endif
