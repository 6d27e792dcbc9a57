/* File descriptors of nvshare in the user's program, out of the way of the program's own. */
#ifndef NVSHARE_DESCRIPTOR_H
#define NVSHARE_DESCRIPTOR_H

#include <fcntl.h>
#include <unistd.h>

/* Returns a high descriptor, which children do not get, in place of the given one, or the given one
 * if there is no other. Programs close and reuse low descriptors by number: shells do, and
 * daemons. */
static inline int descriptor_move_away(int descriptor) {
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 500);
    if (high < 0)
        return descriptor;
    close(descriptor);
    return high;
}

#endif
