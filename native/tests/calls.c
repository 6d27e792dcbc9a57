/* Notes which functions each thread of a program enters, in order and once each: for a build of the
 * interposer with -finstrument-functions (tools/docs/ways). It is linked into no other.
 *
 * The notes are in a file that the reader has made and maps as well (CALLS_FILE). The reader
 * says in it which phase has begun; in phase 0 nothing is noted. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define UNTRACED __attribute__((no_instrument_function))

enum { NOTES = 1 << 14 };

struct note {
    uint64_t function; /* from the start of the library */
    uint32_t thread;
    uint32_t phase;
};

struct page {
    _Atomic uint32_t phase;
    _Atomic uint32_t count;
    struct note notes[NOTES];
};

extern const char __ehdr_start[] __attribute__((visibility("hidden")));

static struct page *page;
/* A function and a thread, in the place that follows from them or the next free one. */
static _Atomic uint64_t seen[NOTES * 4];

__attribute__((constructor)) UNTRACED static void begin(void) {
    const char *path = getenv("CALLS_FILE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        page = mapped;
}

UNTRACED static bool is_new(uint64_t key) {
    for (size_t i = key * 0x9e3779b97f4a7c15u >> 48;; i++) {
        _Atomic uint64_t *place = &seen[i % (NOTES * 4)];
        uint64_t found = 0;
        if (atomic_compare_exchange_strong(place, &found, key))
            return true;
        if (found == key)
            return false;
    }
}

UNTRACED void __cyg_profile_func_enter(void *function, void *caller) {
    (void)caller;
    uint32_t phase = page ? atomic_load(&page->phase) : 0;
    if (!phase)
        return;
    uint64_t offset = (uint64_t)((const char *)function - __ehdr_start);
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    if (!is_new(offset << 32 | thread))
        return;
    uint32_t number = atomic_fetch_add(&page->count, 1);
    if (number < NOTES)
        page->notes[number] = (struct note){offset, thread, phase};
}

UNTRACED void __cyg_profile_func_exit(void *function, void *caller) {
    (void)function;
    (void)caller;
}
