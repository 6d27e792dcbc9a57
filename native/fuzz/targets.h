/* Every reader of untrusted bytes in C, as one function that takes arbitrary bytes.
 *
 * A target calls the shipped reader, and aborts where the reader breaks a promise of its header.
 * The sanitizers find other mistakes. There are two ways to call targets: with_libfuzzer.c looks
 * for new inputs, and replay.c tries the kept ones (tests/fuzz/corpus). */
#ifndef NVSHARE_FUZZ_TARGETS_H
#define NVSHARE_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define FUZZ_TARGETS(TARGET)                                                                       \
    TARGET(frames)      /* frames of a daemon, as the interposer reads them from its socket */     \
    TARGET(machine)     /* any order of events, for the machine that follows them */               \
    TARGET(page)        /* the quota page that members of a group share and write */               \
    TARGET(environment) /* NAME=value lines: the interposer's configuration */                     \
    TARGET(cgroup)      /* files of /proc and of cgroups */                                        \
    TARGET(ptx)                                                                                    \
    TARGET(cubin)                                                                                  \
    TARGET(fatbin)                                                                                 \
    TARGET(node)   /* node.conf of an emulated node */                                             \
    TARGET(faults) /* NVSHARE_EMULATOR_FAIL and _STEAL, a line each */

#define FUZZ_DECLARE(name) void fuzz_##name(const uint8_t *data, size_t size);
FUZZ_TARGETS(FUZZ_DECLARE)
#undef FUZZ_DECLARE

/* Stops where a promise is broken; not assert, which a build may leave out. */
#define FUZZ_PROMISE(holds)                                                                        \
    do {                                                                                           \
        if (!(holds))                                                                              \
            abort();                                                                               \
    } while (0)

/* A copy that is no larger than its content, so that a sanitizer sees the first byte too many; with a NUL behind it. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A file in memory with this content. Returns its descriptor; `path` is a name to open it by. */
int fuzz_file(const void *data, size_t size, char path[32]);

#endif
