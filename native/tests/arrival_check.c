/* residency.c and recency.c, without a driver: in which order memory came and is displaced, and
 * unused memory. Prints nothing if all is well.
 *
 *     arrival_check order                memory that came first is displaced first
 *     arrival_check untouched            unused memory neither leaves nor returns, and is looked for
 *     arrival_check service SEED STEPS   displaced memory, and memory with pages on the host, against
 *                                        a driver that evicts by last service */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "least.h"
#include "memory/recency.h"
#include "moves/residency.h"

#define BLOCK  RESIDENCY_BLOCK
#define SECOND ((uint64_t)1000000000)

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = UINT64_MAX};
static struct ledger ledger = LEDGER_INITIALIZER;

static uint64_t key_of(int index) {
    return UINT64_C(0x7f0000000000) + (uint64_t)index * 64 * BLOCK;
}

static void add(int index, uint64_t bytes, enum ledger_kind kind, int device, uint64_t used_ns) {
    struct ledger_entry entry = {.key = key_of(index),
                                 .bytes = bytes,
                                 .account = &account,
                                 .kind = kind,
                                 .device = device,
                                 .used_ns = used_ns};
    CHECK(account_reserve(&account, bytes, ledger_is_pinned(kind)) == 0);
    CHECK(ledger_add(&ledger, &entry) == 0);
}

static void drop(int index) {
    ledger_drop(ledger_take(&ledger, key_of(index)));
}

static uint64_t used(int index) {
    struct ledger_entry entry;
    CHECK(ledger_find(&ledger, key_of(index), &entry) == 0);
    return entry.used_ns;
}

/* The resident parts of an allocation, in the order in which they came. */
static void has(int index, uint64_t from, uint64_t bytes) {
    struct ledger_entry entry;
    CHECK(ledger_find(&ledger, key_of(index), &entry) == 0);
    CHECK(entry.bytes - entry.away == bytes && (!bytes || entry.head == from));
}

static void return_all(int device) {
    struct residency_list list = {0};
    struct residency_piece piece;
    CHECK(residency_list_away(&ledger, device, &list) == 0);
    while (residency_return(&ledger, &list, 2 * BLOCK, &piece))
        residency_landed(&ledger, &piece, 1);
    residency_list_free(&list);
}

static void touch_all(int device) {
    struct residency_list list = {0};
    struct residency_piece piece;
    CHECK(residency_list_arrived(&ledger, device, &list) == 0);
    while (residency_touch(&ledger, &list, &piece))
        residency_landed(&ledger, &piece, 1);
    residency_list_free(&list);
}

static void check_arrival(void) {
    for (int i = 0; i < 3; i++)
        add(i, 4 * BLOCK, LEDGER_CONVERTED, 0, SECOND);
    add(3, 4 * BLOCK, LEDGER_PLAIN, 0, SECOND);
    add(4, 4 * BLOCK, LEDGER_CONVERTED, 1, SECOND);
    /* They came in the order in which they were allocated, if nothing else is known. */
    CHECK(residency_displace(&ledger, 0, 0) == 0);
    CHECK(residency_displace(&ledger, 0, 5 * BLOCK + 1) == 6 * BLOCK);
    has(0, 0, 0), has(1, 2 * BLOCK, 2 * BLOCK), has(2, 0, 4 * BLOCK);
    CHECK(atomic_load(&account.away) == 6 * BLOCK);
    return_all(0);
    CHECK(atomic_load(&account.away) == 0);
    /* The rest is older than memory that has come since; and the younger one of the others came
     * first. */
    CHECK(residency_displace(&ledger, 0, 2 * BLOCK) == 2 * BLOCK);
    has(1, 0, 2 * BLOCK), has(2, 0, 4 * BLOCK), has(0, 0, 4 * BLOCK);
    CHECK(residency_displace(&ledger, 0, 4 * BLOCK) == 4 * BLOCK);
    has(2, 0, 0), has(0, 0, 4 * BLOCK);
    CHECK(residency_displace(&ledger, 0, BLOCK) == BLOCK);
    has(0, BLOCK, 3 * BLOCK), has(1, 0, 2 * BLOCK);
    CHECK(residency_displace(&ledger, 0, UINT64_MAX) == 5 * BLOCK);
    CHECK(residency_displace(&ledger, 0, UINT64_MAX) == 0);
    has(4, 0, 4 * BLOCK);
    for (int i = 0; i < 5; i++)
        drop(i);
    CHECK(atomic_load(&account.away) == 0);
}

/* An allocation displaced in part comes back and is displaced again: the driver goes on where it
 * stopped. */
static void check_divided(void) {
    add(0, 12 * BLOCK, LEDGER_CONVERTED, 0, SECOND);
    for (uint64_t round = 0, at = 0; round < 7; round++) {
        CHECK(residency_displace(&ledger, 0, 5 * BLOCK) == 5 * BLOCK);
        at = (at + 5 * BLOCK) % (12 * BLOCK);
        has(0, at, 7 * BLOCK);
        touch_all(0);
        has(0, at, 7 * BLOCK);
        return_all(0);
        has(0, at, 12 * BLOCK);
    }
    drop(0);
}

/* Touched memory is the youngest, by the largest possible calls; memory that comes later is
 * younger. */
static void check_touch(void) {
    struct residency_list list = {0};
    struct residency_piece piece;
    add(0, 4 * BLOCK, LEDGER_CONVERTED, 0, SECOND);
    add(1, 4 * BLOCK, LEDGER_CONVERTED, 0, SECOND);
    CHECK(residency_displace(&ledger, 0, 2 * BLOCK) == 2 * BLOCK);
    return_all(0);
    CHECK(residency_displace(&ledger, 0, BLOCK) ==
          BLOCK); /* there: the rest of its end, and its begin */
    CHECK(residency_list_arrived(&ledger, 0, &list) == 0);
    uint64_t expected[][3] = {{1, 0, 4}, {0, 3, 1}, {0, 0, 2}};
    /* The end of the first one has been there for longest, and so has all of it. */
    const int order[] = {1, 2, 0};
    for (int i = 0; i < 3; i++) {
        const uint64_t *of = expected[order[i]];
        CHECK(residency_touch(&ledger, &list, &piece));
        CHECK(piece.address == key_of((int)of[0]) + of[1] * BLOCK && piece.bytes == of[2] * BLOCK);
        CHECK(!piece.crosses);
        residency_landed(&ledger, &piece, 1);
    }
    CHECK(!residency_touch(&ledger, &list, &piece));
    CHECK(atomic_load(&account.away) == BLOCK);
    CHECK(residency_displace(&ledger, 0, 3 * BLOCK) == 3 * BLOCK);
    has(0, 0, 0), has(1, 0, 4 * BLOCK);
    residency_list_free(&list);
    drop(0);
    drop(1);
}

static void add_untouched(int index, uint64_t bytes) {
    struct ledger_entry entry = {.key = key_of(index),
                                 .bytes = bytes,
                                 .account = &account,
                                 .kind = LEDGER_CONVERTED,
                                 .is_untouched = true,
                                 .away = bytes};
    CHECK(account_reserve(&account, bytes, false) == 0);
    atomic_fetch_add(&account.untouched, bytes);
    atomic_fetch_add(&account.away, bytes);
    CHECK(ledger_add(&ledger, &entry) == 0);
}

static void check_untouched(void) {
    struct residency_list list = {0};
    add_untouched(0, 4 * BLOCK);
    add_untouched(1, 4 * BLOCK);
    add_untouched(2, 4 * BLOCK);
    add(3, 4 * BLOCK, LEDGER_CONVERTED, 0, 1);
    CHECK(account_there(&account) == 4 * BLOCK && account_absent(&account) == 0);
    CHECK(residency_list_there(&ledger, 0, &list) == 0 && list.count == 1);
    CHECK(residency_list_arrived(&ledger, 0, &list) == 0 && list.count == 1);
    CHECK(residency_list_away(&ledger, 0, &list) == 0 && list.count == 0);
    CHECK(residency_displace(&ledger, 0, UINT64_MAX) == 4 * BLOCK);
    CHECK(account_absent(&account) == 4 * BLOCK);
    CHECK(atomic_load(&account.kept) == 4 * BLOCK); /* memory that is nowhere is not on the host */
    residency_all_there(&ledger, 0);                /* memory that is nowhere has not come either */
    CHECK(account_absent(&account) == 0 && atomic_load(&account.away) == 12 * BLOCK);
    /* One is seen, and is there, younger than the other. */
    CHECK(recency_saw(&ledger, key_of(1), 7) && !recency_saw(&ledger, key_of(1) + 1, 7));
    CHECK(used(1) == 7 && atomic_load(&account.away) == 8 * BLOCK);
    CHECK(atomic_load(&account.untouched) == 8 * BLOCK && account_absent(&account) == 0);
    CHECK(residency_displace(&ledger, 0, 4 * BLOCK) == 4 * BLOCK);
    has(3, 0, 0), has(1, 0, 4 * BLOCK);
    /* One goes without having been used, and the last may have been. */
    drop(0);
    CHECK(atomic_load(&account.untouched) == 4 * BLOCK);
    residency_all_used(&ledger, 0);
    CHECK(atomic_load(&account.untouched) == 0 && atomic_load(&account.away) == 4 * BLOCK);
    for (int i = 1; i < 4; i++)
        drop(i);
    CHECK(atomic_load(&account.away) == 0 && atomic_load(&account.kept) == 0);
    residency_list_free(&list);
}

/* Calls are watched while there is something to find, but not for ever. */
static void check_watch(void) {
    int looks = 0;
    CHECK(!ledger_looks(&ledger, &account));
    add_untouched(0, BLOCK);
    add_untouched(1, BLOCK);
    CHECK(ledger_looks(&ledger, &account));
    CHECK(recency_saw(&ledger, key_of(0), 1));
    CHECK(ledger_looks(&ledger, &account));
    drop(1);
    CHECK(!ledger_watches(&ledger, &account) && !ledger_looks(&ledger, &account));
    add_untouched(1, BLOCK);
    for (; ledger_looks(&ledger, &account); looks++)
        CHECK(looks < 5000);
    CHECK(looks == 1000);
    /* The search was given up. A new allocation is looked for, but not the old one as well. */
    add_untouched(2, BLOCK);
    CHECK(ledger_looks(&ledger, &account));
    CHECK(recency_saw(&ledger, key_of(2), 1));
    CHECK(!ledger_looks(&ledger, &account));
    CHECK(recency_saw(&ledger, key_of(1), 1));
    ledger_put_back(&ledger, ledger_take(&ledger, key_of(1)));
    CHECK(!ledger_watches(&ledger, &account));
    for (int i = 0; i < 3; i++)
        drop(i);
}

enum { ALLOCATIONS = 12, BLOCKS = 40 };

/* The driver: when each block was last served, and whether it was ever away. */
static struct {
    uint64_t blocks[ALLOCATIONS];         /* 0: there is no such allocation */
    uint64_t served[ALLOCATIONS][BLOCKS]; /* 0: the block is not there */
    bool has_pages[ALLOCATIONS][BLOCKS];  /* on the host */
    uint64_t last;
} driver;

static void serve(const struct residency_piece *piece) {
    int i = (int)((piece->key - key_of(0)) / (64 * BLOCK));
    uint64_t first = (piece->address - piece->key) / BLOCK;
    for (uint64_t b = first; b < first + piece->bytes / BLOCK; b++)
        driver.served[i][b] = ++driver.last;
    residency_landed(&ledger, piece, 1);
}

/* A fill like that of the mover, which may be interrupted. */
static void fill_some(uint64_t blocks) {
    struct residency_list list = {0};
    struct residency_piece piece;
    CHECK(residency_list_arrived(&ledger, 0, &list) == 0);
    while (residency_touch(&ledger, &list, &piece))
        serve(&piece);
    CHECK(residency_list_away(&ledger, 0, &list) == 0);
    for (; blocks && residency_return(&ledger, &list, least(blocks, 3) * BLOCK, &piece);
         blocks -= piece.bytes / BLOCK)
        serve(&piece);
    residency_list_free(&list);
}

static void evict_oldest(uint64_t blocks) {
    while (blocks--) {
        uint64_t *oldest = NULL;
        bool *pages = NULL;
        for (int i = 0; i < ALLOCATIONS; i++)
            for (int b = 0; b < BLOCKS; b++)
                if (driver.served[i][b] && (!oldest || driver.served[i][b] < *oldest)) {
                    oldest = &driver.served[i][b];
                    pages = &driver.has_pages[i][b];
                }
        CHECK(oldest);
        *oldest = 0;
        *pages = true;
    }
}

static void displace_some(uint64_t blocks) {
    evict_oldest(residency_displace(&ledger, 0, blocks * BLOCK) / BLOCK);
}

static void move_some_out(uint64_t blocks) {
    struct residency_list list = {0};
    struct residency_piece piece;
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    for (; blocks && residency_leave(&ledger, &list, least(blocks, 3) * BLOCK, &piece);
         blocks -= piece.bytes / BLOCK) {
        int i = (int)((piece.key - key_of(0)) / (64 * BLOCK));
        uint64_t first = (piece.address - piece.key) / BLOCK;
        for (uint64_t b = first; b < first + piece.bytes / BLOCK; b++) {
            driver.served[i][b] = 0;
            driver.has_pages[i][b] = true;
        }
        residency_landed(&ledger, &piece, 1);
    }
    residency_list_free(&list);
}

static void make_or_drop(int i) {
    if (driver.blocks[i]) {
        drop(i);
        driver.blocks[i] = 0;
        memset(driver.served[i], 0, sizeof driver.served[i]);
        memset(driver.has_pages[i], 0, sizeof driver.has_pages[i]);
        return;
    }
    driver.blocks[i] = 1 + (uint64_t)rand() % BLOCKS;
    add(i, driver.blocks[i] * BLOCK, LEDGER_CONVERTED, 0, (uint64_t)rand() % 9 * SECOND);
    for (uint64_t b = 0; b < driver.blocks[i]; b++)
        driver.served[i][b] = ++driver.last;
}

/* The records and the driver have the same blocks on the GPU, and as many pages on the host. */
static void compare_with_driver(void) {
    uint64_t kept = 0;
    for (int i = 0; i < ALLOCATIONS; i++) {
        struct ledger_entry entry;
        if (!driver.blocks[i])
            continue;
        CHECK(ledger_find(&ledger, key_of(i), &entry) == 0);
        uint64_t there = (entry.bytes - entry.away) / BLOCK, head = entry.head / BLOCK;
        uint64_t pages = 0;
        for (uint64_t b = 0; b < driver.blocks[i]; b++) {
            uint64_t from_head = (b + driver.blocks[i] - head) % driver.blocks[i];
            CHECK((driver.served[i][b] > 0) == (from_head < there));
            pages += driver.has_pages[i][b];
        }
        CHECK(entry.kept == pages * BLOCK);
        kept += entry.kept;
    }
    CHECK(atomic_load(&account.kept) == kept);
}

static void check_service(unsigned seed, int steps) {
    srand(seed);
    for (int step = 0; step < steps; step++) {
        uint64_t blocks = (uint64_t)rand() % (ALLOCATIONS * BLOCKS / 2);
        switch (rand() % 4) {
        case 0: make_or_drop(rand() % ALLOCATIONS); break;
        case 1: fill_some(blocks); break;
        case 2: displace_some(blocks); break;
        default: move_some_out(blocks / 4);
        }
        compare_with_driver();
    }
    for (int i = 0; i < ALLOCATIONS; i++)
        if (driver.blocks[i])
            make_or_drop(i);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "order") == 0) {
        check_arrival();
        check_divided();
        check_touch();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "untouched") == 0) {
        check_untouched();
        check_watch();
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "service") == 0)
        return check_service((unsigned)atoi(argv[2]), atoi(argv[3])), 0;
    return 2;
}
