/* File descriptors of a guest, out of the way of the program's own. */
#ifndef NVSHARE_DESCRIPTOR_H
#define NVSHARE_DESCRIPTOR_H

#include <fcntl.h>
#include <unistd.h>

/* Programs close and reuse low descriptors by number: shells do, and daemons. Returns a high one, which
 * children do not get, in place of the one given; or that one, if no other is to be had. */
static inline int descriptor_move_away(int descriptor) {
    int high = fcntl(descriptor, F_DUPFD_CLOEXEC, 500);
    if (high < 0)
        return descriptor;
    close(descriptor);
    return high;
}

#endif
