/* How much host memory this process could still take for itself without being killed for it. */
#ifndef NVSHARE_EXPLICIT_OWN_HOST_H
#define NVSHARE_EXPLICIT_OWN_HOST_H

#include <stdint.h>

/* Bytes that its memory cgroup, all cgroups above it and the machine could still take, less a
 * margin. Files are looked for below `root`: "" outside of tests. */
uint64_t own_host_room(const char *root);

#endif
