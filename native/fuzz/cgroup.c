/* Files of /proc and of cgroups: a line of /proc/self/cgroup, one of mountinfo, and the rest is the
 * file of the limit.
 *
 * A container's runtime writes them, and a process that may mount can influence their contents. */
#include "cgroup.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "targets.h"

static char root[64];

static void write_file(const char *name, const void *data, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    FUZZ_PROMISE(file && fwrite(data, 1, size, file) == size);
    fclose(file);
}

static void remove_all(void) {
    static const char *const names[] = {"proc/self/cgroup", "proc/self/mountinfo", "number",
                                        "proc/self", "proc"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", root, names[i]);
        remove(path);
    }
    rmdir(root);
}

static void make_root(void) {
    char path[128];
    if (*root)
        return;
    strcpy(root, "/dev/shm/nvshare-fuzz-XXXXXX");
    FUZZ_PROMISE(mkdtemp(root));
    snprintf(path, sizeof path, "%s/proc", root);
    FUZZ_PROMISE(mkdir(path, 0700) == 0);
    snprintf(path, sizeof path, "%s/proc/self", root);
    FUZZ_PROMISE(mkdir(path, 0700) == 0);
    atexit(remove_all);
}

/* The first line of the rest, with its end. */
static size_t take_line(const uint8_t **data, size_t *size, const uint8_t **line) {
    const uint8_t *end = memchr(*data, '\n', *size);
    size_t length = end ? (size_t)(end - *data) + 1 : *size;
    *line = *data;
    *data += length;
    *size -= length;
    return length;
}

static void look(const struct cgroup_version *version) {
    struct cgroup *found = malloc(sizeof *found);
    uint64_t bytes;
    FUZZ_PROMISE(found);
    if (cgroup_find(found, root, version)) {
        FUZZ_PROMISE(strlen(found->folder) < sizeof found->folder);
        FUZZ_PROMISE(strncmp(found->folder, root, strlen(root)) == 0);
        cgroup_limit(found, &bytes);
        while (cgroup_go_up(found))
            FUZZ_PROMISE(strlen(found->folder) >= found->mount_length);
    }
    free(found);
}

void fuzz_cgroup(const uint8_t *data, size_t size) {
    const uint8_t *line;
    char path[128];
    uint64_t number;
    if (!size)
        return;
    make_root();
    size_t length = take_line(&data, &size, &line);
    write_file("proc/self/cgroup", line, length);
    length = take_line(&data, &size, &line);
    write_file("proc/self/mountinfo", line, length);
    write_file("number", data, size);
    look(&CGROUP_V2);
    look(&CGROUP_V1);
    snprintf(path, sizeof path, "%s/number", root);
    cgroup_read_number(path, "", &number);
    cgroup_read_number(path, CGROUP_V1.inactive, &number);
}
