#include "own_host.h"

#include <limits.h>
#include <stdio.h>

#include "cgroup.h"

/* Left for the program itself: as much as the daemon leaves to it (core/clients/host_room.py). */
static uint64_t less_margin(uint64_t limit, uint64_t used) {
    const uint64_t least = (uint64_t)64 << 20;
    uint64_t margin = limit / 20 > least ? limit / 20 : least;
    return limit > used && limit - used > margin ? limit - used - margin : 0;
}

/* Files that the kernel would drop first do not count as used. */
static uint64_t room_in(const struct cgroup *group) {
    uint64_t limit, used, inactive = 0;
    if (!cgroup_limit(group, &limit) || !cgroup_read(group, group->version->usage, "", &used))
        return UINT64_MAX;
    cgroup_read(group, "memory.stat", group->version->inactive, &inactive);
    return less_margin(limit, used > inactive ? used - inactive : 0);
}

/* A process may be killed for a cgroup above its own, far below its own limit. */
static uint64_t room_in_all(const char *root, const struct cgroup_version *version) {
    struct cgroup group;
    uint64_t room = UINT64_MAX;
    if (!cgroup_find(&group, root, version))
        return room;
    do {
        uint64_t here = room_in(&group);
        room = here < room ? here : room;
    } while (cgroup_go_up(&group));
    return room;
}

static uint64_t room_on_the_machine(const char *root) {
    char path[PATH_MAX];
    uint64_t total_kb, available_kb;
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    if (!cgroup_read_number(path, "MemTotal:", &total_kb) ||
        !cgroup_read_number(path, "MemAvailable:", &available_kb) || available_kb > total_kb)
        return 0;
    return less_margin(total_kb << 10, (total_kb - available_kb) << 10);
}

uint64_t own_host_room(const char *root) {
    uint64_t room = room_on_the_machine(root);
    uint64_t unified = room_in_all(root, &CGROUP_V2), legacy = room_in_all(root, &CGROUP_V1);
    room = unified < room ? unified : room;
    return legacy < room ? legacy : room;
}
