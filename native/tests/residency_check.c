/* residency.c and recency.c, without a driver. Prints nothing if all is well.
 *
 *     residency_check use                  exactly the allocations in use count as used
 *     residency_check order                the order of leaving and returning, and how pieces are cut
 *     residency_check model SEED STEPS     moves at random against a model that knows every block
 *     residency_check threads STEPS        a mover and threads that allocate and free */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory/recency.h"
#include "moves/residency.h"
#include "process/clock.h"

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

static void leaves(struct residency_list *list, uint64_t most, int index, uint64_t from,
                   uint64_t to) {
    struct residency_piece piece;
    CHECK(residency_leave(&ledger, list, most, &piece));
    residency_landed(&ledger, &piece, 1);
    CHECK(piece.key == key_of(index));
    CHECK(piece.address == key_of(index) + from && piece.bytes == to - from);
}

static void returns(struct residency_list *list, uint64_t most, int index, uint64_t from,
                    uint64_t to) {
    struct residency_piece piece;
    CHECK(residency_return(&ledger, list, most, &piece));
    residency_landed(&ledger, &piece, 1);
    CHECK(piece.key == key_of(index));
    CHECK(piece.address == key_of(index) + from && piece.bytes == to - from);
}

static void check_order(void) {
    struct residency_list list = {0};
    struct residency_piece piece;
    add(0, 3 * BLOCK, LEDGER_CONVERTED, 0, 100 * SECOND);
    add(1, 2 * BLOCK, LEDGER_MANAGED, 0, 50 * SECOND);
    add(2, 8 * BLOCK, LEDGER_PLAIN, 0, 10 * SECOND);
    add(3, 8 * BLOCK, LEDGER_CONVERTED, 1, 10 * SECOND);
    add(4, BLOCK / 4, LEDGER_CONVERTED, 0, 100 * SECOND);
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    leaves(&list, UINT64_MAX, 1, 0, 2 * BLOCK);
    leaves(&list, 1, 0, 2 * BLOCK, 3 * BLOCK); /* the newest; at least a block */
    leaves(&list, BLOCK + 1, 0, 0, 2 * BLOCK); /* rounded up */
    leaves(&list, 1, 4, 0, BLOCK / 4);         /* or all there is */
    CHECK(!residency_leave(&ledger, &list, 1, &piece));
    CHECK(atomic_load(&account.away) == 5 * BLOCK + BLOCK / 4);
    CHECK(account_there(&account) == 8 * BLOCK); /* that of the other device */
    CHECK(residency_list_away(&ledger, 0, &list) == 0);
    returns(&list, BLOCK, 4, 0, BLOCK / 4);     /* the hottest first */
    returns(&list, 2 * BLOCK - 1, 0, 0, BLOCK); /* rounded down */
    returns(&list, UINT64_MAX, 0, BLOCK, 3 * BLOCK);
    returns(&list, BLOCK / 2, 1, 0, BLOCK); /* but not to nothing */
    CHECK(atomic_load(&account.away) == BLOCK);
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    leaves(&list, BLOCK, 1, 0, BLOCK); /* the coldest, although all have pages on the host */
    drop(0);
    leaves(&list, BLOCK, 4, 0, BLOCK / 4); /* and what is freed is passed over */
    residency_all_there(&ledger, 0);
    CHECK(atomic_load(&account.away) == 0);
    residency_list_free(&list);
}

static uint64_t kept(void) {
    return atomic_load(&account.kept);
}

static void return_all(int device) {
    struct residency_list list = {0};
    struct residency_piece piece;
    CHECK(residency_list_away(&ledger, device, &list) == 0);
    while (residency_return(&ledger, &list, 2 * BLOCK, &piece))
        residency_landed(&ledger, &piece, 1);
    residency_list_free(&list);
}

/* Of equally cold allocations, memory with pages on the host leaves first, and then the rest. */
static void check_pages(void) {
    struct residency_list list = {0};
    for (int i = 0; i < 3; i++)
        add(i, 4 * BLOCK, LEDGER_CONVERTED, 0, 100 * SECOND);
    add(3, BLOCK, LEDGER_CONVERTED, 0, 10 * SECOND);
    /* Other programs displace the oldest memory, so 0 and 1 get pages. */
    CHECK(residency_displace(&ledger, 0, 0) == 0 && kept() == 0);
    CHECK(residency_displace(&ledger, 0, 7 * BLOCK) == 7 * BLOCK && kept() == 7 * BLOCK);
    drop(0);
    CHECK(kept() == 3 * BLOCK);
    return_all(0);
    CHECK(kept() == 3 * BLOCK);
    add(0, 4 * BLOCK, LEDGER_CONVERTED, 0, 100 * SECOND);
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    leaves(&list, UINT64_MAX, 3, 0, BLOCK); /* the coldest at any rate */
    CHECK(kept() == 4 * BLOCK);
    leaves(&list, 2 * BLOCK, 1, BLOCK, 3 * BLOCK); /* not the block that has none */
    leaves(&list, UINT64_MAX, 1, 0, BLOCK);
    CHECK(kept() == 4 * BLOCK);
    /* The same memory leaves again, and one more block needs a page. */
    leaves(&list, UINT64_MAX, 1, 3 * BLOCK, 4 * BLOCK);
    CHECK(kept() == 5 * BLOCK);
    leaves(&list, 1, 2, 3 * BLOCK, 4 * BLOCK);
    CHECK(kept() == 6 * BLOCK);
    /* However often a part comes and goes, it is the same part. */
    for (int i = 0; i < 9; i++) {
        return_all(0);
        CHECK(residency_list_there(&ledger, 0, &list) == 0);
        leaves(&list, UINT64_MAX, 3, 0, BLOCK);
        leaves(&list, 3 * BLOCK, 1, 0, 3 * BLOCK);
        CHECK(kept() == 6 * BLOCK);
    }
    for (int i = 0; i < 4; i++)
        drop(i);
    CHECK(kept() == 0);
    residency_list_free(&list);
}

/* Two allocations with some pages each: these leave from both before either needs more. */
static void check_pages_of_two(void) {
    struct residency_list list = {0};
    add(0, 4 * BLOCK, LEDGER_CONVERTED, 0, SECOND);
    add(1, 4 * BLOCK, LEDGER_CONVERTED, 0, SECOND);
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    leaves(&list, 2 * BLOCK, 0, 2 * BLOCK, 4 * BLOCK);
    list.next++;
    leaves(&list, 2 * BLOCK, 1, 2 * BLOCK, 4 * BLOCK);
    return_all(0);
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    leaves(&list, UINT64_MAX, 0, 2 * BLOCK, 4 * BLOCK);
    leaves(&list, UINT64_MAX, 1, 2 * BLOCK, 4 * BLOCK);
    CHECK(kept() == 4 * BLOCK);
    leaves(&list, UINT64_MAX, 0, 0, 2 * BLOCK);
    CHECK(kept() == 6 * BLOCK);
    residency_list_free(&list);
    drop(0);
    drop(1);
}

static uint64_t used(int index) {
    struct ledger_entry entry;
    CHECK(ledger_find(&ledger, key_of(index), &entry) == 0);
    return entry.used_ns;
}

/* Used memory that was away is no longer; unused memory still is. */
static void check_use_brings_back(struct recency *recency, uint64_t now) {
    struct residency_list list = {0};
    struct residency_piece piece;
    const uint64_t hot = key_of(4);
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    while (residency_leave(&ledger, &list, BLOCK, &piece))
        residency_landed(&ledger, &piece, 1);
    residency_list_free(&list);
    uint64_t away = atomic_load(&account.away);
    recency_note(recency, &ledger, &hot, 1, now);
    CHECK(atomic_load(&account.away) == away - BLOCK);
}

static void check_use(void) {
    static struct recency recency = RECENCY_INITIALIZER;
    uint64_t now = clock_now();
    for (int i = 0; i < 3; i++)
        add(i, 4 * BLOCK, LEDGER_CONVERTED, 0, 1);
    add(3, 4 * BLOCK, LEDGER_PLAIN, 0, 1);
    /* The first and the last byte of one, and what lies beside allocations. */
    uint64_t numbers[] = {0,
                          UINT64_MAX,
                          key_of(0) - 1,
                          key_of(0) + 4 * BLOCK,
                          key_of(1),
                          key_of(2) + 4 * BLOCK - 1,
                          key_of(3)};
    recency_note(&recency, &ledger, numbers, sizeof numbers / sizeof numbers[0], now);
    CHECK(used(0) == 1 && used(1) == now && used(2) == now && used(3) == 1);
    /* New ones are seen after the index has been rebuilt; old ones must still be the same. */
    drop(1);
    add(1, BLOCK, LEDGER_CONVERTED, 0, 2);
    add(4, BLOCK, LEDGER_CONVERTED, 0, 2);
    uint64_t again[] = {key_of(0), key_of(1), key_of(4)};
    recency_note(&recency, &ledger, again, 3, now + 1);
    CHECK(used(0) == now + 1 && used(1) == 2 && used(4) == 2);
    recency_note(&recency, &ledger, again, 3, now + SECOND);
    CHECK(used(1) == now + SECOND && used(4) == now + SECOND);
    check_use_brings_back(&recency, now + 2 * SECOND);
    free(recency.ranges);
    for (int i = 0; i < 5; i++)
        drop(i);
}

/* A use of everything counts for each. */
static void check_all_used(void) {
    struct residency_list list = {0};
    add(0, BLOCK, LEDGER_CONVERTED, 0, 900 * SECOND);
    add(1, BLOCK, LEDGER_CONVERTED, 0, 100 * SECOND);
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    CHECK(list.items[0].key == key_of(1) && list.items[0].coldness == 10);
    atomic_store(&account.all_used_ns, 899 * SECOND + 1);
    CHECK(residency_list_there(&ledger, 0, &list) == 0);
    CHECK(list.items[0].key == key_of(0) && list.items[1].coldness == 0);
    atomic_store(&account.all_used_ns, 0);
    residency_list_free(&list);
    drop(0);
    drop(1);
}

static void check_undone(void) {
    struct residency_list list = {0};
    struct residency_piece first, second;
    add(5, 4 * BLOCK, LEDGER_CONVERTED, 2, 0);
    CHECK(residency_list_there(&ledger, 2, &list) == 0);
    CHECK(residency_leave(&ledger, &list, 2 * BLOCK, &first));
    CHECK(residency_leave(&ledger, &list, 2 * BLOCK, &second));
    CHECK(kept() == 4 * BLOCK);
    residency_has_stayed(&ledger, &second);
    CHECK(atomic_load(&account.away) == 2 * BLOCK && kept() == 2 * BLOCK);
    residency_has_stayed(&ledger, &second);
    CHECK(atomic_load(&account.away) == 2 * BLOCK && kept() == 2 * BLOCK);
    for (int i = 0; i < 2; i++)
        residency_landed(&ledger, i ? &first : &second, 1);
    /* Nor is it undone if the program has used it meanwhile. */
    CHECK(residency_list_there(&ledger, 2, &list) == 0);
    CHECK(residency_leave(&ledger, &list, 2 * BLOCK, &second));
    residency_all_there(&ledger, 2);
    residency_has_stayed(&ledger, &second);
    CHECK(atomic_load(&account.away) == 0);
    residency_landed(&ledger, &second, 1);
    /* Memory that others have pushed out meanwhile is gone; and memory that had pages keeps them. */
    CHECK(residency_list_there(&ledger, 2, &list) == 0);
    CHECK(residency_leave(&ledger, &list, 2 * BLOCK, &second));
    CHECK(residency_displace(&ledger, 2, BLOCK) == BLOCK);
    residency_has_stayed(&ledger, &second);
    CHECK(atomic_load(&account.away) == BLOCK && kept() == 4 * BLOCK);
    residency_landed(&ledger, &second, 1);
    drop(5);
    residency_has_stayed(&ledger, &first);
    CHECK(atomic_load(&account.away) == 0 && kept() == 0);
    residency_list_free(&list);
}

/* One allocation after the other, block by block. */
enum { ALLOCATIONS = 12, BLOCKS = 40 };

struct model {
    bool there[ALLOCATIONS];
    uint64_t bytes[ALLOCATIONS];
    bool away[ALLOCATIONS][BLOCKS];
    bool kept[ALLOCATIONS][BLOCKS];
};

static uint64_t model_sum(const struct model *model, const bool counts[ALLOCATIONS][BLOCKS]) {
    uint64_t total = 0;
    for (int i = 0; i < ALLOCATIONS; i++)
        for (uint64_t b = 0; model->there[i] && b * BLOCK < model->bytes[i]; b++)
            if (counts[i][b])
                total += (b + 1) * BLOCK <= model->bytes[i] ? BLOCK : model->bytes[i] % BLOCK;
    return total;
}

static void model_move(struct model *model, const struct residency_piece *piece, bool away) {
    int i = (int)((piece->key - key_of(0)) / (64 * BLOCK));
    residency_landed(&ledger, piece, 1);
    CHECK(model->there[i]);
    CHECK(piece->bytes && piece->address - piece->key + piece->bytes <= model->bytes[i]);
    uint64_t first = (piece->address - piece->key) / BLOCK;
    uint64_t last = (piece->address - piece->key + piece->bytes - 1) / BLOCK;
    for (uint64_t b = first; b <= last; b++) {
        CHECK(model->away[i][b] != away);
        model->away[i][b] = away;
        model->kept[i][b] |= away;
    }
}

static void model_step(struct model *model, struct residency_list *list) {
    struct residency_piece piece;
    int i = rand() % ALLOCATIONS;
    uint64_t most = (uint64_t)rand() % (BLOCKS * BLOCK);
    switch (rand() % 4) {
    case 0:
        if (model->there[i]) {
            drop(i);
        } else {
            model->bytes[i] = 1 + (uint64_t)rand() % (BLOCKS * BLOCK);
            add(i, model->bytes[i], LEDGER_CONVERTED, 0, (uint64_t)rand() * SECOND);
        }
        model->there[i] = !model->there[i];
        memset(model->away[i], 0, sizeof model->away[i]);
        memset(model->kept[i], 0, sizeof model->kept[i]);
        break;
    case 1:
        if (residency_leave(&ledger, list, most, &piece))
            model_move(model, &piece, true);
        break;
    case 2:
        if (residency_return(&ledger, list, most, &piece))
            model_move(model, &piece, false);
        break;
    default:
        CHECK((rand() % 2 ? residency_list_there : residency_list_away)(&ledger, 0, list) == 0);
    }
    CHECK(atomic_load(&account.away) == model_sum(model, model->away));
    CHECK(kept() == model_sum(model, model->kept));
}

static void check_model(unsigned seed, int steps) {
    struct model model = {0};
    struct residency_list list = {0};
    srand(seed);
    for (int i = 0; i < steps; i++)
        model_step(&model, &list);
    for (int i = 0; i < ALLOCATIONS; i++)
        if (model.there[i])
            drop(i);
    CHECK(atomic_load(&account.away) == 0 && atomic_load(&account.used) == 0 && kept() == 0);
    residency_list_free(&list);
}

static void *allocate_and_free(void *argument) {
    int first = *(int *)argument, steps = 20000;
    for (int i = 0; i < steps; i++) {
        add(first + i % 8, 5 * BLOCK, LEDGER_CONVERTED, 0, (uint64_t)i * SECOND);
        if (i % 8 == 7)
            for (int j = 0; j < 8; j++)
                drop(first + j);
    }
    return NULL;
}

static void check_threads(int steps) {
    pthread_t threads[3];
    int firsts[3] = {0, 100, 200};
    struct residency_list list = {0};
    struct residency_piece piece;
    struct ledger_entry entry;
    for (int t = 0; t < 3; t++)
        CHECK(pthread_create(&threads[t], NULL, allocate_and_free, &firsts[t]) == 0);
    for (int i = 0; i < steps; i++) {
        bool out = i % 2;
        CHECK((out ? residency_list_there : residency_list_away)(&ledger, 0, &list) == 0);
        while ((out ? residency_leave : residency_return)(&ledger, &list, 2 * BLOCK, &piece)) {
            /* A free waits until the move has ended. */
            CHECK(ledger_find(&ledger, piece.key, &entry) == 0 && entry.serial == piece.serial);
            if (out && i % 7 == 0)
                residency_has_stayed(&ledger, &piece), list.next++;
            residency_landed(&ledger, &piece, 1);
        }
    }
    for (int t = 0; t < 3; t++)
        pthread_join(threads[t], NULL);
    CHECK(atomic_load(&account.away) == 0 && atomic_load(&account.used) == 0 && kept() == 0);
    residency_list_free(&list);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "order") == 0) {
        check_order();
        drop(1), drop(2), drop(3), drop(4);
        check_pages();
        check_pages_of_two();
        check_undone();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "use") == 0) {
        check_use();
        check_all_used();
        return 0;
    }
    if (argc == 4 && strcmp(argv[1], "model") == 0)
        return check_model((unsigned)atoi(argv[2]), atoi(argv[3])), 0;
    if (argc == 3 && strcmp(argv[1], "threads") == 0)
        return check_threads(atoi(argv[2])), 0;
    return 2;
}
