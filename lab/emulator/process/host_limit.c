/* The limit on host memory that the managed memory of this process takes, and its enforcement.
 *
 * Published driver: host pages are charged to the memory cgroup of the process that owns the range.
 * A full cgroup ends in its OOM killer, that is, in SIGKILL (inferred). The model counts the charge
 * (model/host.c). */
#include "host_limit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../native/common/cgroup.h"
#include "../../../native/common/old_calls.h"
#include "../../../native/common/quantity.h"

static struct cgroup cgroup; /* the process's own, if it has a limit */

static bool read_cgroup(struct slot *slot, const struct cgroup_version *version) {
    struct stat found;
    uint64_t limit;
    if (!cgroup_find(&cgroup, "", version) || !cgroup_limit(&cgroup, &limit) ||
        old_stat(cgroup.folder, &found) < 0)
        return false;
    slot->cgroup_limit = limit;
    slot->cgroup = (uint64_t)found.st_dev << 32 ^ (uint64_t)found.st_ino;
    return true;
}

static void read_limit(struct slot *slot) {
    const char *text = getenv("NVSHARE_EMULATOR_HOST_LIMIT");
    if (text && *text && quantity_parse(text, &slot->host_limit) == 0 && slot->host_limit)
        return;
    if (text && *text)
        fprintf(stderr,
                "nvshare emulator: NVSHARE_EMULATOR_HOST_LIMIT=%s is not an amount of memory\n",
                text);
    if (!read_cgroup(slot, &CGROUP_V2))
        read_cgroup(slot, &CGROUP_V1);
}

/* Only with `data off`: otherwise managed memory really exists, and would count twice. */
static void note_usage(struct slot *slot, bool data) {
    uint64_t bytes;
    if (slot->cgroup && !data &&
        cgroup_read(&cgroup, "memory.stat", cgroup.version->anonymous, &bytes))
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
    /* The first process of a container ignores a SIGKILL from itself, but not one from the kernel.
     * A container killed by the kernel ends with this status. */
    _exit(128 + SIGKILL);
}
