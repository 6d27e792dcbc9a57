/* The mover and all below it, on a driver that is a table of blocks, while threads allocate, free,
 * destroy contexts and change orders. Prints nothing if all is well.
 *
 *     mover_check SEED ROUNDS blocking|queueing room|full
 *
 * The words choose the kind of prefetch to the host, and whether all fits on the GPU. If it does,
 * every byte that crosses the bus has to be reported once. */
#include "table_gpu.h"

enum { FREERS = 2, SMALL = 600 };

static struct mover_progress told; /* added up */
static bool is_full;

struct freer {
    int number, rounds;
    unsigned random;
    pthread_t thread;
};

/* Allocations of its own, half of them at a time. */
static void *allocate_and_free(void *argument) {
    struct freer *freer = argument;
    bool has[ALLOCATIONS] = {false};
    for (int round = 0; round < freer->rounds; round++) {
        int i = rand_r(&freer->random) % (ALLOCATIONS / FREERS) * FREERS + freer->number;
        if (has[i])
            release(i);
        else
            allocate(i, 1 + (unsigned)rand_r(&freer->random) % BLOCKS, false);
        has[i] = !has[i];
        usleep(50);
    }
    return NULL;
}

static void destroy_a_context(void) {
    mover_bar(&device.mover);
    pthread_mutex_lock(&gpu.lock);
    CHECK(gpu.streams == 0);
    gpu.is_forbidden = true;
    pthread_mutex_unlock(&gpu.lock);
    usleep(100);
    pthread_mutex_lock(&gpu.lock);
    gpu.is_forbidden = false;
    pthread_mutex_unlock(&gpu.lock);
    mover_unbar(&device.mover);
}

static void take(void) {
    struct mover_progress progress;
    mover_take(&device.mover, &progress);
    told.out_bytes += progress.out_bytes;
    told.in_bytes += progress.in_bytes;
    told.displaced += progress.displaced;
}

static void give_orders(unsigned *random, int rounds) {
    static const enum mover_job jobs[] = {MOVER_REST, MOVER_OUT, MOVER_FILL, MOVER_FILL_GENTLY};
    uint64_t displaced = 0;
    for (int round = 0; round < rounds; round++) {
        uint64_t bytes = (uint64_t)(rand_r(random) % SMALL) * RESIDENCY_BLOCK;
        switch (rand_r(random) % 8) {
        case 0: destroy_a_context(); break;
        case 1: mover_order_more(&device.mover, bytes); break;
        case 2: take(); break;
        case 3: mover_set_missing(&device.mover, bytes / 4); break;
        case 4: displaced += is_full ? mover_displace(&device.mover, bytes / 4) : 0; break;
        default: CHECK(mover_order(&device.mover, jobs[rand_r(random) % 4], bytes) == 0);
        }
        CHECK(mover_away(&device.mover) <= (uint64_t)ALLOCATIONS * BLOCKS * RESIDENCY_BLOCK);
        CHECK(mover_left(&device.mover) <= (uint64_t)ALLOCATIONS * BLOCKS * RESIDENCY_BLOCK);
        usleep((unsigned)rand_r(random) % 300);
    }
    take();
    CHECK(told.displaced == displaced);
}

static void do_all(enum mover_job job) {
    CHECK(mover_order(&device.mover, job, UINT64_MAX) == 0);
    wait_until_idle();
    CHECK(mover_left(&device.mover) == 0);
}

/* Memory may be displaced only by the records: a fill corrects that. */
static void end_well(void) {
    mover_set_missing(&device.mover, 0);
    do_all(MOVER_FILL);
    do_all(MOVER_OUT);
    compare();
    CHECK(account_there(&device.account) == 0 && gpu.used == 0);
    do_all(MOVER_FILL_GENTLY);
    compare();
    CHECK(gpu.used == gpu.capacity || atomic_load(&device.account.away) == 0);
    take();
    if (!is_full)
        CHECK(told.out_bytes == gpu.out * RESIDENCY_BLOCK &&
              told.in_bytes == gpu.in * RESIDENCY_BLOCK);
}

int main(int argc, char **argv) {
    if (argc != 5)
        return 2;
    unsigned random = (unsigned)atoi(argv[1]);
    int rounds = atoi(argv[2]);
    prepare();
    gpu.is_blocking = strcmp(argv[3], "blocking") == 0;
    is_full = strcmp(argv[4], "full") == 0;
    gpu.capacity = is_full ? SMALL : ALLOCATIONS * BLOCKS;
    struct freer freers[FREERS];
    for (int i = 0; i < FREERS; i++) {
        freers[i] = (struct freer){.number = i, .rounds = 3 * rounds, .random = random + 1u + i};
        CHECK(pthread_create(&freers[i].thread, NULL, allocate_and_free, &freers[i]) == 0);
    }
    give_orders(&random, rounds);
    for (int i = 0; i < FREERS; i++)
        pthread_join(freers[i].thread, NULL);
    end_well();
    mover_stop(&device.mover);
    CHECK(gpu.streams == 0);
    return 0;
}
