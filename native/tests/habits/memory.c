/* Memory of the process. */
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

#include "habits.h"

enum { BYTES = 16 << 20 };

static char *map_some(void) {
    char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(at != MAP_FAILED);
    return at;
}

static void lock_what_it_touches(void) {
    MUST(mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0);
}

static void map_and_unmap(void) {
    for (int i = 0; i < 200; i++) {
        char *at = map_some();
        memset(at, i, 4096);
        MUST(munmap(at, BYTES) == 0);
    }
    work();
}

static void advise_against_it(void) {
    char *at = map_some();
    memset(at, 7, BYTES);
    MUST(madvise(at, BYTES, MADV_DONTNEED) == 0 && at[5000] == 0);
    MUST(madvise(at, BYTES, MADV_DONTFORK) == 0);
    work();
}

static void protect_its_heap(void) {
    char *at = map_some();
    MUST(mprotect(at, BYTES, PROT_NONE) == 0);
    work();
    MUST(munmap(at, BYTES) == 0);
}

static void fragment_its_heap(void) {
    static void *pieces[20000];
    for (int i = 0; i < 20000; i++)
        pieces[i] = malloc(100 + (size_t)i % 900);
    for (int i = 0; i < 20000; i += 2)
        free(pieces[i]);
    malloc_trim(0);
    MUST(sbrk(1 << 20) != (void *)-1);
    work();
}

static void clear_its_environment(void) {
    MUST(clearenv() == 0 && setenv("NVSHARE_DISABLE", "1", 1) == 0);
    MUST(setenv("NVSHARE_SOCKET_DIR", "/nowhere", 1) == 0);
}

const struct habit of_memory[] = {
    HABIT(lock_what_it_touches),
    HABIT(map_and_unmap),
    HABIT(advise_against_it),
    HABIT(protect_its_heap),
    HABIT(fragment_its_heap),
    HABIT(clear_its_environment),
    {0},
};
