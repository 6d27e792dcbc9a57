/* explicit/region.c and explicit/slab.c, without a driver. Prints nothing if all is well.
 *
 *     region_check order                the order in which chunks leave, and in which they return
 *     region_check model SEED STEPS     allocations come and go, chunks move, against a model that
 *                                       knows every byte
 *     region_check gone                 a region is freed while it is in a list
 *     region_check empty                a chunk's copy is dropped with its last allocation */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "explicit/region.h"
#include "explicit/slab.h"

#define MIB    ((uint64_t)1 << 20)
#define SECOND ((uint64_t)1000000000)

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER, .limit = UINT64_MAX};
static struct regions regions;
static struct slabs slabs;
static uint64_t next_address = UINT64_C(0x7f0000000000);
static uint64_t random_state;

static uint64_t random_below(uint64_t most) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % most;
}

static struct region *add(uint64_t bytes) {
    struct region *region = region_create(bytes, REGION_CHUNK);
    CHECK(region);
    region_link(&regions, region);
    struct mapping mapping = {.region = region, .address = next_address, .bytes = bytes};
    next_address += bytes + random_below(3) * REGION_PAGE;
    CHECK(mapping_add(&regions, &mapping));
    return region;
}

static uint64_t address_of(const struct region *region) {
    return region->mappings->address;
}

static struct region *find(uint64_t address) {
    struct mapping *mapping = regions_find(&regions, address);
    return mapping ? mapping->region : NULL;
}

static void set_all(struct region *region, enum chunk_state state) {
    for (unsigned i = 0; i < region->count; i++)
        chunk_set_state(&regions, &region->chunks[i], state);
}

static void next_is(struct chunk_list *list, bool away, const struct chunk *expected) {
    struct chunk *chunk = chunk_list_take(list, away);
    CHECK(chunk == expected);
    if (chunk)
        chunk_landed(&regions, chunk);
}

static void check_order(void) {
    struct chunk_list list;
    struct region *hot = add(72 * MIB), *cold = add(2 * MIB), *warm = add(2 * MIB);
    hot->used_ns = 100 * SECOND;
    warm->used_ns = 99 * SECOND + SECOND / 2; /* together with the hottest */
    cold->used_ns = 50 * SECOND;
    CHECK(hot->count == 2 && hot->chunks[1].bytes == 8 * MIB);
    region_add_live(&regions, hot, 0, 72 * MIB);
    region_add_live(&regions, cold, 0, 2 * MIB);
    region_add_live(&regions, warm, 0, 1 * MIB + 1);
    CHECK(regions.away == 75 * MIB + 1 && atomic_load(&account.away) == regions.away);

    CHECK(regions_list_away(&regions, &list) == 0);
    next_is(&list, true, &warm->chunks[0]);
    next_is(&list, true, &hot->chunks[1]);
    next_is(&list, true, &hot->chunks[0]);
    next_is(&list, true, &cold->chunks[0]);
    next_is(&list, true, NULL);
    chunk_list_free(&regions, &list);

    set_all(hot, CHUNK_THERE), set_all(cold, CHUNK_THERE), set_all(warm, CHUNK_THERE);
    CHECK(regions.away == 0 && region_is_there(hot));
    CHECK(regions_list_there(&regions, &list) == 0);
    next_is(&list, false, &cold->chunks[0]);
    chunk_set_state(&regions, &hot->chunks[0], CHUNK_STORED); /* by another thread */
    next_is(&list, false, &hot->chunks[1]);
    next_is(&list, false, &warm->chunks[0]);
    next_is(&list, false, NULL);
    chunk_list_free(&regions, &list);
    CHECK(regions.away == 64 * MIB && !region_is_there(hot));
    region_remove_live(&regions, hot, 0, 72 * MIB);
    CHECK(regions.away == 0);
    CHECK(find(address_of(hot) + 72 * MIB - 1) == hot);
    CHECK(find(address_of(hot) - 1) == NULL);
}

static void check_gone(void) {
    struct chunk_list list;
    struct region *first = add(2 * MIB), *second = add(2 * MIB);
    CHECK(regions_list_away(&regions, &list) == 0);
    region_drop(&regions, second);
    CHECK(find(address_of(first)) == first);
    next_is(&list, true, &first->chunks[0]);
    next_is(&list, true, NULL);
    chunk_list_free(&regions, &list); /* and now it is freed: the sanitizer would tell */
    CHECK(!regions.gone);
    region_drop(&regions, first);
    CHECK(regions.mapping_count == 0 && regions.chunk_count == 0);
    CHECK(atomic_load(&regions.movable) == 0);
}

static void check_empty(void) {
    struct region *region = add(2 * MIB);
    struct chunk *chunk = &region->chunks[0];
    region_add_live(&regions, region, 0, MIB);
    region_add_live(&regions, region, MIB, MIB);
    chunk_set_state(&regions, chunk, CHUNK_STORED);
    region_remove_live(&regions, region, 0, MIB);
    CHECK(chunk->state == CHUNK_STORED);
    region_remove_live(&regions, region, MIB, MIB);
    CHECK(chunk->state == CHUNK_BLANK && regions.away == 0);
    /* It becomes empty on its way. */
    region_add_live(&regions, region, 0, MIB);
    chunk_set_state(&regions, chunk, CHUNK_THERE);
    chunk->is_moving = true;
    region_remove_live(&regions, region, 0, MIB);
    chunk_set_state(&regions, chunk, CHUNK_STORED);
    CHECK(chunk->state == CHUNK_STORED);
    chunk_landed(&regions, chunk);
    CHECK(chunk->state == CHUNK_BLANK && regions.away == 0);
    region_drop(&regions, region);
}

enum { ALLOCATIONS = 400 };

struct allocation {
    struct region *region;
    uint64_t offset, bytes;
};

static struct allocation allocations[ALLOCATIONS];

/* Small ones twice as often as large ones. */
static uint64_t random_size(void) {
    switch (random_below(3)) {
    case 0: return 1 + random_below(4096);
    case 1: return 1 + random_below(SLAB_MOST);
    default: return SLAB_MOST + 1 + random_below(100 * MIB);
    }
}

static void allocate(struct allocation *one) {
    one->bytes = random_size();
    if (one->bytes > SLAB_MOST) {
        one->region = add((one->bytes + REGION_PAGE - 1) / REGION_PAGE * REGION_PAGE);
        one->offset = 0;
    } else {
        uint64_t need = slabs_need(&slabs, one->bytes);
        CHECK(need % REGION_PAGE == 0 && need <= REGION_CHUNK);
        if (need)
            CHECK(slabs_add(&slabs, add(need), one->bytes) == 0);
        CHECK(slabs_need(&slabs, one->bytes) == 0);
        one->offset = slabs_take(&slabs, one->bytes, &one->region);
        CHECK(one->offset % 512 == 0);
    }
    region_add_live(&regions, one->region, one->offset, one->bytes);
}

static void release(struct allocation *one) {
    region_remove_live(&regions, one->region, one->offset, one->bytes);
    if (!one->region->slab || slabs_give_back(&slabs, one->region, one->offset)) {
        for (unsigned i = 0; i < one->region->count; i++)
            CHECK(one->region->chunks[i].live == 0);
        region_drop(&regions, one->region);
    }
    *one = (struct allocation){0};
}

/* No two overlap, each is found by any of its addresses, and memory that is away adds up. */
static void check_all(void) {
    uint64_t live = 0, away = 0;
    for (int i = 0; i < ALLOCATIONS; i++) {
        const struct allocation *one = &allocations[i];
        if (!one->bytes)
            continue;
        live += one->bytes;
        uint64_t inside = one->offset + random_below(one->bytes);
        CHECK(find(address_of(one->region) + inside) == one->region);
        CHECK(!one->region->slab || slab_place(one->region->slab, inside) == one->offset);
        const struct allocation *other = &allocations[random_below(ALLOCATIONS)];
        CHECK(other == one || !other->bytes || other->region != one->region ||
              other->offset >= one->offset + one->bytes ||
              one->offset >= other->offset + other->bytes);
    }
    for (const struct region *region = regions.first; region; region = region->next)
        for (unsigned i = 0; i < region->count; i++) {
            live -= region->chunks[i].live;
            away += region->chunks[i].state == CHUNK_THERE ? 0 : region->chunks[i].live;
            CHECK(region->chunks[i].state != CHUNK_STORED || region->chunks[i].live);
        }
    CHECK(live == 0);
    CHECK(away == regions.away && away == atomic_load(&account.away));
}

static void move_some(void) {
    struct chunk_list list;
    bool away = random_below(2);
    CHECK((away ? regions_list_away : regions_list_there)(&regions, &list) == 0);
    uint64_t most = random_below(list.count + 1);
    for (struct chunk *chunk; most-- && (chunk = chunk_list_take(&list, away));) {
        chunk_set_state(&regions, chunk, away ? CHUNK_THERE : CHUNK_STORED);
        chunk_landed(&regions, chunk);
    }
    chunk_list_free(&regions, &list);
}

static void check_model(uint64_t seed, long steps) {
    random_state = seed * 2 + 1;
    for (long step = 0; step < steps; step++) {
        struct allocation *one = &allocations[random_below(ALLOCATIONS)];
        if (one->bytes)
            release(one);
        else
            allocate(one);
        if (random_below(20) == 0)
            move_some();
        if (random_below(50) == 0)
            check_all();
    }
    for (int i = 0; i < ALLOCATIONS; i++)
        if (allocations[i].bytes)
            release(&allocations[i]);
    check_all();
    CHECK(regions.mapping_count == 0 && regions.away == 0);
    for (int i = 0; i < SLAB_SIZES; i++)
        CHECK(!slabs.partial[i] && slabs.bytes[i] == 0);
}

int main(int count, char **arguments) {
    random_state = 1;
    regions_init(&regions, &account);
    if (count == 2 && strcmp(arguments[1], "order") == 0)
        check_order();
    else if (count == 2 && strcmp(arguments[1], "gone") == 0)
        check_gone();
    else if (count == 2 && strcmp(arguments[1], "empty") == 0)
        check_empty();
    else if (count == 4 && strcmp(arguments[1], "model") == 0)
        check_model(strtoull(arguments[2], NULL, 10), strtol(arguments[3], NULL, 10));
    else
        return 2;
    return 0;
}
