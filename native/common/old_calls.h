/* Functions that glibc 2.17 does not have (old_glibc.h), as calls to the kernel: results and errno
 * are the same.
 *
 * On x86-64 and aarch64 the kernel's struct stat is that of the C library. */
#ifndef NVSHARE_OLD_CALLS_H
#define NVSHARE_OLD_CALLS_H

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* memfd_create, which came with glibc 2.27. */
static inline int old_memfd_create(const char *name, unsigned flags) {
    return (int)syscall(SYS_memfd_create, name, flags);
}

/* stat and fstat, which were macros until glibc 2.33. aarch64 has no call for a path alone. */
static inline int old_stat(const char *path, struct stat *found) {
    return (int)syscall(SYS_newfstatat, AT_FDCWD, path, found, 0);
}

static inline int old_fstat(int descriptor, struct stat *found) {
    return (int)syscall(SYS_fstat, descriptor, found);
}

#endif
