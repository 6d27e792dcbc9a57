/* The addresses that work reaches, judged when it is executed and not when it is queued. */
#include "reach.h"

#include <stdlib.h>

#include "memory.h"
#include "reservation.h"

enum { FIRST_PLACES = 4 };

/* Room doubles whenever the count reaches a power of two. */
static bool grow(struct reach **reach) {
    uint32_t count = *reach ? (*reach)->count : 0;
    if (*reach && (count < FIRST_PLACES || (count & (count - 1))))
        return true;
    uint32_t room = count ? 2 * count : FIRST_PLACES;
    struct reach *larger = realloc(*reach, sizeof *larger + room * sizeof larger->places[0]);
    if (!larger)
        return false;
    larger->count = count;
    *reach = larger;
    return true;
}

void reach_add_unknown(struct reach **reach, uint64_t address, uint64_t bytes, uint32_t gpu,
                       enum reach_access access) {
    if (bytes && grow(reach))
        (*reach)->places[(*reach)->count++] = (struct reached){address, bytes, gpu, access};
}

void reach_add(struct reach **reach, uint64_t address, uint64_t bytes, uint32_t gpu,
               enum reach_access access) {
    if (__builtin_expect(driver->reservations && reservation_find(address), 0))
        reach_add_unknown(reach, address, bytes, gpu, access);
}

static bool may_reach(const struct allocation *allocation, const struct reached *place) {
    bool reads = allocation->readers >> place->gpu & 1,
         writes = allocation->writers >> place->gpu & 1;
    return !allocation->guarded || (place->access == REACH_WRITES ? writes : reads);
}

/* A place may span several adjacent mappings. */
static bool is_there(const struct reached *place, uint64_t *where) {
    for (uint64_t at = 0; at < place->bytes;) {
        const struct allocation *allocation = memory_find(place->address + at);
        *where = place->address + at;
        if (!allocation || !may_reach(allocation, place))
            return false;
        at += allocation->bytes - (*where - allocation->address);
    }
    return true;
}

bool reach_is_there(const struct reach *reach, uint64_t *where) {
    for (uint32_t i = 0; i < reach->count; i++)
        if (!is_there(&reach->places[i], where))
            return false;
    return true;
}
