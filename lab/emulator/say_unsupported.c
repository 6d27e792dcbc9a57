/* Says once per name that a call is not implemented. Allocates nothing and takes no lock, since a
 * program may find a gap in any thread, and under any lock of its own. */
#include "say_unsupported.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The names printed so far: a hash table with open addressing, which only ever grows. It has room
 * for every function of both headers, twice. */
#define SLOTS 4096u
static _Atomic(const char *) said[SLOTS];

static uint32_t hash(const char *text) {
    uint32_t value = 2166136261u; /* FNV-1a */
    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * 16777619u;
    return value;
}

/* True for exactly one caller per name. */
static bool first_time(const char *name) {
    uint32_t start = hash(name);
    for (uint32_t step = 0; step < SLOTS; step++) {
        const char *seen = NULL;
        if (atomic_compare_exchange_strong(&said[(start + step) % SLOTS], &seen, name))
            return true;
        if (strcmp(seen, name) == 0)
            return false;
    }
    return false;
}

static void say(const char *name, const char *answer) {
    char line[256];
    int length = snprintf(line, sizeof line,
                          "nvshare emulator: %s is not implemented, answering %s\n", name, answer);
    if (length <= 0)
        return;
    if ((size_t)length >= sizeof line)
        length = sizeof line - 1;
    /* One write, so that lines of several threads and processes do not mix. If stderr is closed,
     * the message is lost. */
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

void emulator_say_unsupported(const char *name, const char *answer) {
    if (first_time(name))
        say(name, answer);
}
