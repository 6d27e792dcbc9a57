/* own_slot.c on a page that several processes share. Prints nothing if all is well, unless noted.
 *
 *     own_slot_check layout                             sizes and offsets, as JSON, for quota.py
 *     own_slot_check states                             one process, every answer compared
 *     own_slot_check threads THREADS STEPS              one account of a group, from many threads
 *     own_slot_check processes FILE COUNT STEPS KILLS   as many processes, some of which are killed:
 *                                                       their total is never more than the limit
 *     own_slot_check fill FILE COUNT                    as many processes take all there is: none is
 *                                                       refused memory that has room
 *     own_slot_check stopped FILE                       the owner of the lock is stopped; the other
 *                                                       process goes on
 *     own_slot_check cost                               nanoseconds per reservation and release, with a limit */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory/ledger.h"
#include "process/clock.h"

enum { LIMIT = 100000, LARGEST = 900 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static void set_limit(struct quota_page *page, uint64_t limit) {
    atomic_store(&page->limit, limit);
    atomic_store(&page->check, limit ^ QUOTA_CHECK);
}

/* As the daemon makes it, with so many slots in use: key n has slot n - 1. */
static int make_page(const char *path, uint32_t used_slots, uint64_t limit) {
    int file = path ? open(path, O_RDWR | O_CREAT | O_TRUNC, 0600) : memfd_create("page", 0);
    CHECK(file >= 0 && ftruncate(file, sizeof(struct quota_page)) == 0);
    struct quota_page *page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(page != MAP_FAILED);
    page->magic = QUOTA_MAGIC;
    set_limit(page, limit);
    for (uint32_t i = 0; i < used_slots; i++)
        atomic_store(&page->slots[i].key, i + 1);
    atomic_store(&page->used_slots, used_slots);
    munmap(page, sizeof *page);
    return file;
}

static struct own_slot take(int file, uint32_t slot) {
    struct own_slot own;
    CHECK(own_slot_take(&own, file, slot, slot + 1) == 0);
    return own;
}

static void show_layout(void) {
    printf("{\"magic\": %llu, \"check\": %llu, \"size\": %zu, \"limit\": %zu, \"used_slots\": %zu, "
           "\"slots\": %zu, \"slot_size\": %zu, \"key\": %zu, \"used\": %zu, \"kept\": %zu, "
           "\"held\": %zu}\n",
           (unsigned long long)QUOTA_MAGIC, (unsigned long long)QUOTA_CHECK,
           sizeof(struct quota_page), offsetof(struct quota_page, limit),
           offsetof(struct quota_page, used_slots), offsetof(struct quota_page, slots),
           sizeof(struct quota_slot), offsetof(struct quota_slot, key),
           offsetof(struct quota_slot, used), offsetof(struct quota_slot, kept),
           offsetof(struct quota_page, held));
}

static void check_states(void) {
    int file = make_page(NULL, 2, QUOTA_NO_LIMIT);
    struct own_slot none = {0}, one = take(file, 0), two = take(file, 1);
    CHECK(own_slot_reserve(&none, 5, UINT64_MAX - 5) == 0 &&
          own_slot_limit(&none) == QUOTA_NO_LIMIT);
    CHECK(own_slot_take(&none, file, QUOTA_SLOTS, 1) == -EINVAL && !none.page);
    CHECK(own_slot_reserve(&one, 0, 60) == 0 && own_slot_reserve(&two, 0, 30) == 0);
    CHECK(own_slot_group_used(&one, 60) == 90);
    set_limit(one.page, 100);
    CHECK(own_slot_limit(&two) == 100);
    CHECK(own_slot_reserve(&two, 30, 11) == -ENOMEM &&
          own_slot_reserve(&two, 30, UINT64_MAX) == -ENOMEM);
    CHECK(own_slot_reserve(&two, 30, 10) == 0 && own_slot_reserve(&one, 60, 1) == -ENOMEM);
    own_slot_tell(&one, 59);
    CHECK(own_slot_reserve(&one, 59, 1) == 0);
    set_limit(one.page, 50); /* below what is in use: nothing more, and nothing less */
    CHECK(own_slot_reserve(&two, 40, 1) == -ENOMEM && own_slot_group_used(&two, 40) == 100);
    set_limit(one.page, 101);
    CHECK(own_slot_reserve(&two, 40, 1) == 0);
    /* The slot of one belongs to another process by now: its numbers are not touched, and count. */
    atomic_store(&one.page->slots[0].key, 77);
    own_slot_tell(&one, 0);
    CHECK(own_slot_group_used(&two, 41) == 101);
    /* Memory kept by pools of another, and memory that drivers hold for the group, count as used. */
    atomic_store(&one.page->slots[0].key, 1);
    set_limit(one.page, own_slot_group_used(&two, 10) + 30);
    CHECK(own_slot_reserve(&two, 10, 31) == -ENOMEM);
    own_slot_keep(&one, 20);
    CHECK(own_slot_reserve(&two, 10, 11) == -ENOMEM);
    atomic_store(&one.page->held, 5);
    CHECK(own_slot_reserve(&two, 10, 6) == -ENOMEM && own_slot_reserve(&two, 10, 5) == 0);
    own_slot_tell(&two, 10);
    own_slot_keep(&one, 0);
    atomic_store(&one.page->held, 0);

    /* A page with invalid numbers allows nothing, and does no harm. */
    atomic_store(&one.page->slots[0].used, UINT64_MAX);
    atomic_store(&one.page->used_slots, UINT32_MAX);
    CHECK(own_slot_reserve(&two, 41, 1) == -ENOMEM);
    own_slot_leave(&one);
    own_slot_leave(&two);
    CHECK(!two.page);
    close(file);
}

static struct account shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = UINT64_MAX};
static long steps_per_thread;

static void *run_thread(void *number) {
    unsigned seed = (unsigned)(uintptr_t)number;
    uint64_t held[1000];
    int count = 0;
    for (long step = 0; step < steps_per_thread; step++) {
        uint64_t bytes = 1 + (uint64_t)(rand_r(&seed) % LARGEST);
        if (rand_r(&seed) % 2 && count < 1000) {
            if (account_reserve(&shared, bytes, false) == 0)
                held[count++] = bytes;
        } else if (count) {
            account_release(&shared, held[--count], false);
        }
        CHECK(atomic_load(&shared.used) <= LIMIT);
    }
    while (count)
        account_release(&shared, held[--count], false);
    return NULL;
}

/* Meanwhile the account moves to another page and back, as after a restart of the daemon. */
static void run_threads(int count, long steps) {
    pthread_t threads[64];
    int files[2] = {make_page(NULL, 1, LIMIT), make_page(NULL, 1, LIMIT)};
    struct own_slot own = take(files[0], 0);
    account_join(&shared, &own);
    steps_per_thread = steps;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)(i + 1));
    for (int i = 1; i <= 200; i++) {
        own = take(files[i % 2], 0);
        account_join(&shared, &own);
        usleep(100);
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&shared.used) == 0 && account_left(&shared) == LIMIT);
    CHECK(atomic_load(&shared.own_slot.page->slots[0].used) == 0);
    close(files[0]);
    close(files[1]);
}

/* The total use, at a moment without reservations: concurrent frees make it smaller. */
static uint64_t used_by_all(struct own_slot *own, uint64_t used) {
    uint32_t nobody = 0;
    while (!atomic_compare_exchange_weak(&own->page->lock, &nobody, UINT32_MAX))
        nobody = 0;
    uint64_t sum = own_slot_group_used(own, used);
    nobody = UINT32_MAX;
    atomic_compare_exchange_strong(&own->page->lock, &nobody, 0);
    return sum;
}

/* One process of several. It holds only the lock of the page, and may be killed at any moment. */
static void run_member(int file, uint32_t slot, long steps, unsigned seed) {
    struct own_slot own = take(file, slot);
    uint64_t held[1000], used = 0;
    int count = 0;
    for (long step = 0; step < steps; step++) {
        uint64_t bytes = 1 + (uint64_t)(rand_r(&seed) % LARGEST);
        if (rand_r(&seed) % 2 && count < 1000) {
            if (own_slot_reserve(&own, used, bytes) == 0) {
                held[count++] = bytes;
                used += bytes;
            }
            CHECK(used_by_all(&own, used) <= LIMIT);
        } else if (count) {
            used -= held[--count];
            own_slot_tell(&own, used);
        }
    }
    own_slot_tell(&own, 0);
    _exit(0);
}

static pid_t start_member(int file, uint32_t slot, long steps, unsigned seed) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        run_member(file, slot, steps, seed);
    return child;
}

/* Cleans up like the daemon when a client has ended; another one comes in its place. */
static void clear(struct quota_page *page, uint32_t slot) {
    atomic_store(&page->slots[slot].used, 0);
    atomic_store(&page->slots[slot].asked, 0);
}

static void run_processes(const char *path, uint32_t count, long steps, long kills) {
    pid_t members[64];
    int file = make_page(path, count, LIMIT);
    struct own_slot view = take(file, 0);
    for (uint32_t i = 0; i < count; i++)
        members[i] = start_member(file, i, steps, i + 1);
    for (long kill_number = 0; kill_number < kills; kill_number++) {
        uint32_t victim = (uint32_t)rand() % count;
        usleep((useconds_t)(rand() % 3000));
        kill(members[victim], SIGKILL);
        waitpid(members[victim], NULL, 0);
        clear(view.page, victim);
        members[victim] = start_member(file, victim, steps, (unsigned)(1000 + kill_number));
    }
    for (uint32_t i = 0; i < count; i++) {
        int status;
        CHECK(waitpid(members[i], &status, 0) == members[i] && status == 0);
    }
    CHECK(own_slot_group_used(&view, 0) == 0);
    CHECK(own_slot_reserve(&view, 0, LIMIT) == 0 && own_slot_reserve(&view, LIMIT, 1) == -ENOMEM);
    own_slot_leave(&view);
    close(file);
}

/* No process frees, so the total only grows: after a refusal there is still no room. */
static void fill(int file, uint32_t slot, unsigned seed) {
    struct own_slot own = take(file, slot);
    uint64_t used = 0;
    for (int refusals = 0; refusals < 100;) {
        uint64_t bytes = 1 + (uint64_t)(rand_r(&seed) % LARGEST);
        if (own_slot_reserve(&own, used, bytes) == 0) {
            used += bytes;
        } else {
            CHECK(used_by_all(&own, used) + bytes > LIMIT);
            refusals++;
        }
    }
    _exit(0);
}

static void run_fill(const char *path, int count) {
    int file = make_page(path, (uint32_t)count, LIMIT);
    for (int i = 0; i < count; i++)
        if (fork() == 0)
            fill(file, (uint32_t)i, (unsigned)i + 1);
    for (int i = 0, status; i < count; i++)
        CHECK(wait(&status) > 0 && status == 0);
    close(file);
}

/* An abandoned lock is taken over by a process that waits long enough. */
static void run_stopped(const char *path) {
    int file = make_page(path, 2, LIMIT);
    struct own_slot one = take(file, 0);
    atomic_store(&one.page->lock, 4711);
    uint64_t began = clock_now();
    CHECK(own_slot_reserve(&one, 0, 10) == 0);
    CHECK(clock_now() - began >= CLOCK_MS(100));
    CHECK(atomic_load(&one.page->lock) == 0);
    /* The request of a process that has lost the lock counts until that process is back. */
    atomic_store(&one.page->slots[1].asked, LIMIT - 20);
    CHECK(own_slot_reserve(&one, 10, 11) == -ENOMEM && own_slot_reserve(&one, 10, 10) == 0);
    CHECK(own_slot_group_used(&one, 20) == 20);
    own_slot_leave(&one);
    close(file);
}

static void show_cost(void) {
    int file = make_page(NULL, 1, (uint64_t)1 << 40);
    struct own_slot own = take(file, 0);
    const long rounds = 1000000;
    account_join(&shared, &own);
    uint64_t began = clock_now();
    for (long i = 0; i < rounds; i++) {
        account_reserve(&shared, 512, false);
        account_release(&shared, 512, false);
    }
    printf("%.1f\n", (double)(clock_now() - began) / (double)rounds);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "layout") == 0)
        show_layout();
    else if (strcmp(what, "states") == 0)
        check_states();
    else if (strcmp(what, "threads") == 0 && count == 4)
        run_threads(atoi(arguments[2]), atol(arguments[3]));
    else if (strcmp(what, "processes") == 0 && count == 6)
        run_processes(arguments[2], (uint32_t)atoi(arguments[3]), atol(arguments[4]),
                      atol(arguments[5]));
    else if (strcmp(what, "fill") == 0 && count == 4)
        run_fill(arguments[2], atoi(arguments[3]));
    else if (strcmp(what, "stopped") == 0 && count == 3)
        run_stopped(arguments[2]);
    else if (strcmp(what, "cost") == 0)
        show_cost();
    else
        return 2;
    return 0;
}
