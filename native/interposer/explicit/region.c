#include "region.h"

#include <errno.h>
#include <stdlib.h>

#include "least.h"
#include "memory/coldness.h"

void regions_init(struct regions *regions, struct account *account) {
    *regions = (struct regions){.account = account};
    pthread_mutex_init(&regions->lock, NULL);
    pthread_cond_init(&regions->landed, NULL);
}

struct region *region_create(uint64_t bytes, uint64_t chunk_bytes) {
    unsigned count = (unsigned)((bytes + chunk_bytes - 1) / chunk_bytes);
    struct region *region = calloc(1, sizeof *region + count * sizeof region->chunks[0]);
    if (!region)
        return NULL;
    region->bytes = bytes;
    region->chunk_bytes = chunk_bytes;
    region->count = count;
    for (unsigned i = 0; i < count; i++)
        region->chunks[i] = (struct chunk){.region = region,
                                           .offset = i * chunk_bytes,
                                           .bytes = least(chunk_bytes, bytes - i * chunk_bytes),
                                           .state = CHUNK_BLANK};
    return region;
}

void region_link(struct regions *regions, struct region *region) {
    region->serial = ++regions->last_serial;
    region->next = regions->first;
    region->link = &regions->first;
    if (region->next)
        region->next->link = &region->next;
    regions->first = region;
    regions->chunk_count += region->count;
    atomic_fetch_add(&regions->movable, region->bytes);
}

void region_stay(struct regions *regions, struct region *region) {
    if (region->stays)
        return;
    region->stays = true;
    atomic_fetch_sub(&regions->movable, region->bytes);
}

void region_drop(struct regions *regions, struct region *region) {
    while (region->mappings)
        mapping_drop(regions, region->mappings);
    *region->link = region->next;
    if (region->next)
        region->next->link = region->link;
    regions->chunk_count -= region->count;
    region_stay(regions, region);
    region->link = NULL;
    if (!regions->lists) {
        free(region);
        return;
    }
    region->next = regions->gone;
    regions->gone = region;
}

static bool is_away(const struct chunk *chunk) {
    return chunk->state == CHUNK_STORED || chunk->state == CHUNK_BLANK;
}

/* A negative number wraps around. */
static void change_away(struct regions *regions, uint64_t more) {
    regions->away += more;
    atomic_fetch_add(&regions->account->away, more);
}

/* A copy with nothing allocated in it counts as none, even if an allocation gets a place in it
 * next. So if nothing is away, no copy has to be brought in before an allocation can be used. */
static void forget_copy(struct chunk *chunk) {
    if (chunk->state == CHUNK_STORED && !chunk->live && !chunk->is_moving)
        chunk->state = CHUNK_BLANK;
}

static void change_live(struct regions *regions, struct chunk *chunk, uint64_t more) {
    chunk->live += more;
    if (is_away(chunk))
        change_away(regions, more);
    forget_copy(chunk);
}

/* `sign` is 1, or all ones for less. */
static void spread(struct regions *regions, struct region *region, uint64_t offset, uint64_t bytes,
                   uint64_t sign) {
    while (bytes) {
        struct chunk *chunk = &region->chunks[offset / region->chunk_bytes];
        uint64_t part = least(bytes, chunk->offset + chunk->bytes - offset);
        change_live(regions, chunk, sign * part);
        offset += part;
        bytes -= part;
    }
}

void region_add_live(struct regions *regions, struct region *region, uint64_t offset,
                     uint64_t bytes) {
    spread(regions, region, offset, bytes, 1);
}

void region_remove_live(struct regions *regions, struct region *region, uint64_t offset,
                        uint64_t bytes) {
    spread(regions, region, offset, bytes, UINT64_MAX);
}

void chunk_set_state(struct regions *regions, struct chunk *chunk, enum chunk_state state) {
    bool was_away = is_away(chunk);
    chunk->state = state;
    if (was_away && !is_away(chunk))
        change_away(regions, -chunk->live);
    else if (!was_away && is_away(chunk))
        change_away(regions, chunk->live);
}

void regions_lose(struct regions *regions) {
    for (struct region *region = regions->first; region; region = region->next)
        for (unsigned i = 0; i < region->count; i++)
            if (is_away(&region->chunks[i]) && !region->chunks[i].is_moving)
                chunk_set_state(regions, &region->chunks[i], CHUNK_LOST);
}

bool region_is_there(const struct region *region) {
    for (unsigned i = 0; i < region->count; i++)
        if (is_away(&region->chunks[i]))
            return false;
    return true;
}

static bool moves(const struct region *region) {
    for (unsigned i = 0; i < region->count; i++)
        if (region->chunks[i].is_moving)
            return true;
    return false;
}

/* Freeing memory is not a cancellation point for the program's threads. */
void region_wait(struct regions *regions, const struct region *region) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    while (moves(region))
        pthread_cond_wait(&regions->landed, &regions->lock);
    pthread_setcancelstate(before, &before);
}

void chunk_landed(struct regions *regions, struct chunk *chunk) {
    chunk->is_moving = false;
    forget_copy(chunk);
    pthread_cond_broadcast(&regions->landed);
}

/* The coldest first; among equals the oldest. */
static int compare_leaving(const void *left, const void *right) {
    const struct chunk *a = *(struct chunk *const *)left, *b = *(struct chunk *const *)right;
    if (a->coldness != b->coldness)
        return a->coldness > b->coldness ? -1 : 1;
    if (a->region != b->region)
        return a->region->serial < b->region->serial ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int compare_returning(const void *left, const void *right) {
    return compare_leaving(right, left);
}

static void judge(const struct regions *regions) {
    uint64_t newest = 0;
    for (struct region *region = regions->first; region; region = region->next)
        if (region->used_ns > newest)
            newest = region->used_ns;
    for (struct region *region = regions->first; region; region = region->next)
        for (unsigned i = 0; i < region->count; i++)
            region->chunks[i].coldness = coldness(newest - region->used_ns);
}

static bool is_wanted(const struct chunk *chunk, bool away) {
    return away ? is_away(chunk) : chunk->state == CHUNK_THERE && !chunk->region->stays;
}

static int make_list(struct regions *regions, struct chunk_list *list, bool away,
                     int (*compare)(const void *, const void *)) {
    *list =
        (struct chunk_list){.chunks = malloc((regions->chunk_count + 1) * sizeof *list->chunks)};
    if (!list->chunks)
        return -ENOMEM;
    regions->lists++;
    judge(regions);
    for (struct region *region = regions->first; region; region = region->next)
        for (unsigned i = 0; i < region->count; i++)
            if (is_wanted(&region->chunks[i], away))
                list->chunks[list->count++] = &region->chunks[i];
    if (list->count > 1)
        qsort(list->chunks, list->count, sizeof *list->chunks, compare);
    return 0;
}

int regions_list_there(struct regions *regions, struct chunk_list *list) {
    return make_list(regions, list, false, compare_leaving);
}

int regions_list_away(struct regions *regions, struct chunk_list *list) {
    return make_list(regions, list, true, compare_returning);
}

void chunk_list_free(struct regions *regions, struct chunk_list *list) {
    if (!list->chunks)
        return;
    free(list->chunks);
    *list = (struct chunk_list){0};
    if (--regions->lists)
        return;
    for (struct region *region; (region = regions->gone);) {
        regions->gone = region->next;
        free(region);
    }
}

struct chunk *chunk_list_take(struct chunk_list *list, bool away) {
    while (list->next < list->count) {
        struct chunk *chunk = list->chunks[list->next++];
        if (!chunk->region->link || chunk->is_moving || !is_wanted(chunk, away))
            continue;
        chunk->is_moving = true;
        return chunk;
    }
    return NULL;
}
