/* The mover in single steps, on a driver that is a table of blocks: how a fill keeps pace with the
 * room that others make, the reports of leaving memory, and memory that never moves. Prints nothing
 * if all is well.
 *
 *     pacing_check WHAT      see the end of the file */
#include "table_gpu.h"

#define BLOCK RESIDENCY_BLOCK

static struct mover *const mover = &device.mover;

static uint64_t total_in(void) {
    pthread_mutex_lock(&gpu.lock);
    uint64_t in = gpu.in;
    pthread_mutex_unlock(&gpu.lock);
    return in;
}

/* Waits until the mover sleeps because there is no room: otherwise it always holds its lock. */
static void until_waiting(void) {
    for (int i = 0; i < 100000; i++) {
        pthread_mutex_lock(&mover->lock);
        bool is_waiting = mover_is_waiting(mover);
        pthread_mutex_unlock(&mover->lock);
        if (is_waiting)
            return;
        usleep(100);
    }
    CHECK(!"it never waits");
}

/* It brings in so many blocks, and not one more before the next report of room. */
static void brings(uint64_t blocks) {
    for (int i = 0; i < 100000 && total_in() < blocks; i++)
        usleep(100);
    until_waiting();
    CHECK(total_in() == blocks);
}

static void set_missing(uint64_t bytes) {
    mover_set_missing(mover, bytes);
}

static void order(enum mover_job job, uint64_t bytes) {
    CHECK(mover_order(mover, job, bytes) == 0);
}

static struct mover_progress taken(void) {
    struct mover_progress progress;
    mover_take(mover, &progress);
    return progress;
}

/* Three of 20 blocks, on the host. */
static void three_away(void) {
    for (int i = 0; i < 3; i++)
        allocate(i, 20, false);
}

static void check_steps(void) {
    three_away();
    set_missing(60 * BLOCK);
    order(MOVER_FILL, UINT64_MAX);
    brings(0);
    CHECK(mover_is_busy(mover));
    set_missing(50 * BLOCK);
    brings(10);
    set_missing(20 * BLOCK + 1); /* there is no room for the block that this begins */
    brings(39);
    /* Another program has taken room meanwhile. Memory that has come in stays. */
    set_missing(30 * BLOCK);
    set_missing(25 * BLOCK);
    brings(39);
    set_missing(20 * BLOCK);
    brings(40);
    CHECK(taken().in_bytes == 40 * BLOCK);
    set_missing(0);
    wait_until_idle();
    CHECK(total_in() == 60 && taken().in_bytes == 20 * BLOCK);
    compare();
}

static void check_cancelled(void) {
    three_away();
    set_missing(45 * BLOCK);
    order(MOVER_FILL, UINT64_MAX);
    brings(15);
    order(MOVER_REST, 0);
    wait_until_idle();
    compare();
    CHECK(taken().in_bytes == 15 * BLOCK);
    /* The last report of room holds for the next fill. */
    set_missing(40 * BLOCK);
    order(MOVER_FILL, UINT64_MAX);
    brings(20);
    /* An order out in the middle of it, for more than there is; then all comes back. */
    order(MOVER_OUT, UINT64_MAX);
    wait_until_idle();
    CHECK(gpu.out == 20 && gpu.used == 0);
    set_missing(0);
    order(MOVER_FILL, UINT64_MAX);
    wait_until_idle();
    struct mover_progress made = taken();
    CHECK(made.out_bytes == 20 * BLOCK && made.in_bytes == 65 * BLOCK && made.left == 0);
    CHECK(total_in() == 80);
    compare();
}

/* The order is for a part of the memory, and the missing room counts against that part. */
static void check_part(void) {
    three_away();
    set_missing(10 * BLOCK);
    order(MOVER_FILL, 30 * BLOCK);
    brings(20);
    set_missing(0);
    wait_until_idle();
    CHECK(total_in() == 30);
    compare();
}

/* Memory is freed while the fill waits for room for it. */
static void check_freed(void) {
    three_away();
    set_missing(60 * BLOCK);
    order(MOVER_FILL, UINT64_MAX);
    brings(0);
    for (int i = 0; i < 3; i++)
        release(i);
    wait_until_idle();
    CHECK(total_in() == 0);
}

/* A bar lets it out and in again; it goes on waiting. */
static void check_barred(void) {
    three_away();
    set_missing(50 * BLOCK);
    order(MOVER_FILL, UINT64_MAX);
    brings(10);
    mover_bar(mover);
    CHECK(gpu.streams == 0);
    mover_unbar(mover);
    brings(10);
    set_missing(0);
    wait_until_idle();
    CHECK(total_in() == 60 && taken().in_bytes == 60 * BLOCK);
}

static void hold(bool is_held) {
    pthread_mutex_lock(&gpu.lock);
    gpu.is_held = is_held;
    pthread_cond_broadcast(&gpu.changed);
    pthread_mutex_unlock(&gpu.lock);
}

/* The driver is stopped in the middle of the first call: all still has to leave, and the order may
 * grow. */
static void check_more(void) {
    for (int i = 0; i < 3; i++)
        allocate(i, 20, true);
    gpu.is_blocking = true;
    hold(true);
    order(MOVER_OUT, 30 * BLOCK);
    CHECK(mover_left(mover) == 30 * BLOCK && mover_away(mover) == 30 * BLOCK);
    mover_order_more(mover, 10 * BLOCK);
    struct mover_progress made = taken();
    CHECK(made.left == 40 * BLOCK && made.out_bytes == 0 && mover_away(mover) == 40 * BLOCK);
    hold(false);
    wait_until_idle();
    made = taken();
    CHECK(made.left == 0 && made.out_bytes == 40 * BLOCK && gpu.out == 40);
    compare();
    /* An order for more than there is moves out all there is. */
    hold(true);
    order(MOVER_OUT, UINT64_MAX);
    CHECK(mover_left(mover) == 20 * BLOCK);
    order(MOVER_REST, 0); /* the memory of this call leaves, and nothing after that */
    uint64_t left = mover_left(mover);
    hold(false);
    wait_until_idle();
    made = taken();
    CHECK(made.out_bytes == left && mover_left(mover) == 0);
    compare();
}

/* The session gets reports in steps, and of the end. Calls stay short once the pace is known. On a
 * busy machine they take longer, and so are smaller. */
static void check_progress(void) {
    for (int i = 0; i < 20; i++)
        allocate(i, 40, true);
    gpu.is_blocking = true;
    gpu.block_us = 200;
    order(MOVER_OUT, 800 * BLOCK);
    uint64_t told = 0;
    while (mover_is_busy(mover)) {
        if (!mover_has_news(mover)) {
            usleep(50);
            continue;
        }
        struct mover_progress made = taken();
        told += made.out_bytes;
        CHECK(told + made.left == 800 * BLOCK);
    }
    CHECK(told + taken().out_bytes == 800 * BLOCK && gpu.out == 800);
    CHECK(gpu.knocks >= 5 && gpu.knocks <= 51);
    CHECK(gpu.calls_out >= 10 && gpu.most_bytes <= 60 * BLOCK);
}

/* The bytes that have left by the next report to the session. */
static uint64_t next_news(uint64_t grain) {
    for (uint64_t bytes = grain;; bytes += grain) {
        mover->bytes -= grain;
        mover->leaving += grain;
        mover_note(mover, &(struct mover_progress){.out_bytes = grain});
        if (mover_has_news(mover) || !mover->bytes)
            return bytes;
    }
}

/* A large move is reported soon, then with every 64th part, and often again towards the end. */
static void check_ramp(void) {
    const uint64_t grain = 16 * BLOCK, all = 64 * 16 * grain;
    atomic_store(&device.account.used, all);
    mover_bar(mover); /* this test reports the moves itself */
    order(MOVER_OUT, all);
    CHECK(next_news(grain) == grain && taken().out_bytes == grain);
    uint64_t most = grain, step = grain;
    while (mover_left(mover) > all / 2) {
        CHECK((step = next_news(grain)) >= most && taken().out_bytes == step);
        most = step;
    }
    CHECK(most == all / 64);
    while (mover_left(mover) > grain) {
        CHECK((step = next_news(grain)) <= most && taken().out_bytes == step);
        most = step;
    }
    CHECK(most == grain);
    order(MOVER_REST, 0);
    mover_unbar(mover);
    atomic_store(&device.account.used, 0);
}

/* Remaining memory is touched before anything comes in, by one call each; that is no move. Memory
 * that then comes in pushes out that of others. */
static void check_leftovers(void) {
    gpu.capacity = 60;
    allocate(0, 20, true);
    allocate(1, 20, true);
    allocate(2, 20, false);
    allocate(3, 20, true); /* stands for another program, which has come since */
    ledger_drop(ledger_take(&allocations.memory, key_of(3)));
    order(MOVER_FILL, UINT64_MAX);
    wait_until_idle();
    CHECK(gpu.queue[0].bytes == 20 * BLOCK && gpu.queue[0].address == key_of(0));
    CHECK(gpu.queue[1].bytes == 20 * BLOCK && gpu.queue[1].address == key_of(1));
    CHECK(gpu.queue[2].address == key_of(2));
    CHECK(taken().in_bytes == 20 * BLOCK && total_in() == 20);
    CHECK(atomic_load(&device.account.away) == 0);
    compare();
}

static void check_displaced(void) {
    for (int i = 0; i < 3; i++)
        allocate(i, 20, true);
    CHECK(mover_displace(mover, 25 * BLOCK - 1) == 25 * BLOCK);
    CHECK(mover_away(mover) == 25 * BLOCK && !mover_is_busy(mover));
    struct mover_progress made = taken();
    CHECK(made.displaced == 25 * BLOCK && made.out_bytes == 0 && gpu.pushed == 0);
    CHECK(taken().displaced == 0);
    /* The guess was right for half of it. The rest is harmless. */
    for (int b = 0; b < 12; b++)
        put(0, b, CU_DEVICE_CPU);
    order(MOVER_FILL, UINT64_MAX);
    wait_until_idle();
    CHECK(gpu.used == 60 && taken().in_bytes == 25 * BLOCK);
    compare();
    /* Memory that has come last leaves last now. */
    CHECK(mover_displace(mover, 35 * BLOCK) == 35 * BLOCK);
    struct ledger_entry entry;
    CHECK(ledger_find(&allocations.memory, key_of(1), &entry) == 0);
    CHECK(entry.away == 15 * BLOCK && entry.head == 0);
    CHECK(ledger_find(&allocations.memory, key_of(0), &entry) == 0 && entry.away == 0);
}

static void check_untouched(void) {
    struct ledger_entry entry = {.key = key_of(0),
                                 .bytes = 20 * BLOCK,
                                 .account = &device.account,
                                 .kind = LEDGER_CONVERTED,
                                 .is_untouched = true,
                                 .away = 20 * BLOCK};
    gpu.exists[0] = true;
    CHECK(account_reserve(&device.account, entry.bytes, false) == 0);
    atomic_fetch_add(&device.account.untouched, entry.bytes);
    atomic_fetch_add(&device.account.away, entry.bytes);
    CHECK(ledger_add(&allocations.memory, &entry) == 0);
    allocate(1, 20, true);
    order(MOVER_OUT, UINT64_MAX);
    wait_until_idle();
    CHECK(gpu.out == 20 && mover_away(mover) == 40 * BLOCK);
    /* To the daemon all has to come in. Used memory comes first. The rest comes by itself, and the
     * fill ends when there is room for it. */
    set_missing(30 * BLOCK);
    order(MOVER_FILL, UINT64_MAX);
    brings(10);
    set_missing(20 * BLOCK);
    brings(20);
    CHECK(mover_is_busy(mover));
    set_missing(BLOCK);
    CHECK(mover_is_busy(mover));
    set_missing(0);
    wait_until_idle();
    CHECK(total_in() == 20 && taken().in_bytes == 20 * BLOCK);
    for (size_t i = 0; i < gpu.pushed; i++)
        CHECK(gpu.queue[i].address >= key_of(1));
}

/* Without a daemon: the fill takes the free memory, once. */
static void check_gently(void) {
    gpu.capacity = 30;
    three_away();
    set_missing(60 * BLOCK); /* of no importance any more */
    order(MOVER_FILL_GENTLY, UINT64_MAX);
    wait_until_idle();
    CHECK(total_in() == 30 && gpu.used == 30);
    compare();
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*check)(void);
    } known[] = {{"steps", check_steps},         {"cancelled", check_cancelled},
                 {"part", check_part},           {"freed", check_freed},
                 {"barred", check_barred},       {"more", check_more},
                 {"progress", check_progress},   {"leftovers", check_leftovers},
                 {"displaced", check_displaced}, {"untouched", check_untouched},
                 {"gently", check_gently},       {"ramp", check_ramp}};
    for (size_t i = 0; argc == 2 && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(argv[1], known[i].name) == 0) {
            prepare();
            known[i].check();
            mover_stop(&device.mover);
            CHECK(gpu.streams == 0);
            return 0;
        }
    return 2;
}
