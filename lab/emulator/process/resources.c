/* The resources that the process has yet to give back, for finding leaks. */
#include "resources.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "inject.h"

void resources_add(enum resource resource) {
    __atomic_add_fetch(&driver_slot()->resources[resource], 1, __ATOMIC_RELAXED);
}

void resources_remove(enum resource resource) {
    __atomic_sub_fetch(&driver_slot()->resources[resource], 1, __ATOMIC_RELAXED);
}

/* Written in one piece: several processes may end at once. */
__attribute__((destructor)) static void tell_leaks(void) {
    const char *path = getenv("NVSHARE_EMULATOR_LEAKS");
    if (!driver || !path)
        return;
    const uint32_t *resources = driver_slot()->resources;
    char line[256];
    int length = snprintf(line, sizeof line,
                          "{\"pid\": %d, \"handles\": %u, \"mappings\": %u, \"reservations\": %u, "
                          "\"registrations\": %u, \"host_allocations\": %u, \"injected\": %llu}\n",
                          (int)getpid(), resources[RESOURCE_HANDLES], resources[RESOURCE_MAPPINGS],
                          resources[RESOURCE_RESERVATIONS], resources[RESOURCE_REGISTRATIONS],
                          resources[RESOURCE_HOST], (unsigned long long)inject_count());
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || write(file, line, (size_t)length) != length)
        fprintf(stderr,
                "nvshare emulator: the list of resources that were not released cannot be written "
                "to %s\n",
                path);
    if (file >= 0)
        close(file);
}
