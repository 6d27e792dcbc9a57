/* ledger.c against a model that cannot be wrong, and with many threads. Prints nothing if all is well.
 *
 *     ledger_check model SEED STEPS        one thread, every answer compared
 *     ledger_check threads THREADS STEPS   each thread its own keys, one account with a limit
 *     ledger_check cost ENTRIES            nanoseconds per add and take, with so many others there */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "memory/ledger.h"
#include "process/clock.h"

enum { KEYS = 500, OWNERS = 7 };

struct model {
    bool there[KEYS];
    uint64_t bytes[KEYS], owner[KEYS], references[KEYS];
};

static uint64_t key_of(int index) {
    return 0x7f0000000000 + (uint64_t)index * 512;
}

static int add(struct ledger *ledger, struct account *account, uint64_t key, uint64_t bytes,
               uint64_t owner) {
    enum ledger_kind kind = owner % 2 ? LEDGER_PLAIN : LEDGER_CONVERTED;
    if (account_reserve(account, bytes, ledger_is_pinned(kind)) < 0)
        return -ENOMEM;
    struct ledger_entry entry = {.key = key,
                                 .bytes = bytes,
                                 .owner = owner,
                                 .account = account,
                                 .kind = kind,
                                 .references = 1};
    return ledger_add(ledger, &entry);
}

static uint64_t sum(const struct model *model, bool pinned_only) {
    uint64_t total = 0;
    for (int i = 0; i < KEYS; i++)
        if (model->there[i] && (!pinned_only || model->owner[i] % 2))
            total += model->bytes[i];
    return total;
}

static void compare(struct ledger *ledger, struct account *account, const struct model *model) {
    struct ledger_entry entry;
    CHECK(atomic_load(&account->used) == sum(model, false));
    CHECK(atomic_load(&account->pinned) == sum(model, true));
    for (int i = 0; i < KEYS; i++) {
        CHECK((ledger_find(ledger, key_of(i), &entry) == 0) == model->there[i]);
        if (model->there[i])
            CHECK(entry.bytes == model->bytes[i] && entry.owner == model->owner[i] &&
                  entry.references == model->references[i]);
    }
}

static void step_add(struct ledger *ledger, struct account *account, struct model *model, int i) {
    uint64_t bytes = (uint64_t)(rand() % 10000), owner = (uint64_t)(rand() % OWNERS);
    if (model->there[i])
        return;
    bool fits = sum(model, false) + bytes <= atomic_load(&account->limit);
    CHECK((add(ledger, account, key_of(i), bytes, owner) == 0) == fits);
    model->there[i] = fits;
    model->bytes[i] = bytes;
    model->owner[i] = owner;
    model->references[i] = 1;
}

static void step_take(struct ledger *ledger, struct model *model, int i) {
    struct ledger_entry *taken = ledger_take(ledger, key_of(i));
    CHECK((taken != NULL) == model->there[i]);
    if (taken && rand() % 3 == 0) {
        ledger_put_back(ledger, taken);
        return;
    }
    ledger_drop(taken);
    model->there[i] = false;
}

static void step_owner(struct ledger *ledger, struct model *model) {
    uint64_t owner = (uint64_t)(1 + rand() % (OWNERS - 1));
    struct ledger_entry *taken = ledger_take_owner(ledger, owner);
    if (rand() % 3 == 0) {
        ledger_put_back(ledger, taken);
        return;
    }
    ledger_drop(taken);
    for (int i = 0; i < KEYS; i++)
        if (model->owner[i] == owner)
            model->there[i] = false;
}

static void step_refer(struct ledger *ledger, struct model *model, int i) {
    if (rand() % 2) {
        CHECK((ledger_refer(ledger, key_of(i)) == 0) == model->there[i]);
        model->references[i] += model->there[i];
        return;
    }
    struct ledger_entry *last = ledger_unrefer(ledger, key_of(i));
    model->references[i] -= model->there[i];
    CHECK((last != NULL) == (model->there[i] && model->references[i] == 0));
    model->there[i] = model->there[i] && model->references[i] > 0;
    ledger_drop(last);
}

static void run_model(unsigned seed, long steps) {
    struct ledger ledger = LEDGER_INITIALIZER;
    struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = 1500000};
    struct model model = {0};
    srand(seed);
    for (long step = 0; step < steps; step++) {
        int kind = rand() % 100, i = rand() % KEYS;
        if (kind < 50)
            step_add(&ledger, &account, &model, i);
        else if (kind < 85)
            step_take(&ledger, &model, i);
        else if (kind < 99)
            step_refer(&ledger, &model, i);
        else
            step_owner(&ledger, &model);
        if (step % 100 == 0)
            compare(&ledger, &account, &model);
    }
    compare(&ledger, &account, &model);
    for (int i = 0; i < KEYS; i++)
        ledger_drop(ledger_take(&ledger, key_of(i)));
    for (uint64_t owner = 1; owner < OWNERS; owner++)
        ledger_drop(ledger_take_owner(&ledger, owner));
    CHECK(atomic_load(&account.used) == 0 && atomic_load(&account.pinned) == 0);
    free(ledger.buckets);
}

static struct ledger shared = LEDGER_INITIALIZER;
static struct account shared_account = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = 100000};
static long steps_per_thread;

static void *run_thread(void *number) {
    unsigned seed = (unsigned)(uintptr_t)number;
    uint64_t first = (uint64_t)(uintptr_t)number << 32, count = 0;
    for (long step = 0; step < steps_per_thread; step++) {
        if (rand_r(&seed) % 2) {
            if (add(&shared, &shared_account, first + count, 1 + (uint64_t)(rand_r(&seed) % 900),
                    first) == 0)
                count++;
        } else if (count) {
            ledger_drop(ledger_take(&shared, first + --count));
        }
        CHECK(atomic_load(&shared_account.used) <= 100000);
    }
    ledger_drop(ledger_take_owner(&shared, first));
    return NULL;
}

static void run_threads(int count, long steps) {
    pthread_t threads[64];
    steps_per_thread = steps;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    CHECK(atomic_load(&shared_account.used) == 0 && atomic_load(&shared_account.pinned) == 0);
    CHECK(shared.entry_count == 0);
    free(shared.buckets);
}

static void run_cost(long others) {
    struct ledger ledger = LEDGER_INITIALIZER;
    struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = UINT64_MAX};
    const long rounds = 200000;
    for (long i = 0; i < others; i++)
        add(&ledger, &account, (uint64_t)i * 512, 512, 1);
    uint64_t began = clock_now();
    for (long i = 0; i < rounds; i++) {
        add(&ledger, &account, (uint64_t)(others + i % 100) * 512, 512, 1);
        ledger_drop(ledger_take(&ledger, (uint64_t)(others + i % 100) * 512));
    }
    printf("%.1f\n", (double)(clock_now() - began) / (double)rounds);
}

int main(int count, char **arguments) {
    const char *what = count > 1 ? arguments[1] : "";
    if (strcmp(what, "model") == 0 && count == 4)
        run_model((unsigned)atoi(arguments[2]), atol(arguments[3]));
    else if (strcmp(what, "threads") == 0 && count == 4)
        run_threads(atoi(arguments[2]), atol(arguments[3]));
    else if (strcmp(what, "cost") == 0 && count == 3)
        run_cost(atol(arguments[2]));
    else
        return 2;
    return 0;
}
