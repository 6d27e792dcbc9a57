/* explicit/extent.c and explicit/slot.c, without a driver. Prints nothing if all is well.
 *
 *     extent_check model SEED STEPS     extents come, slots are taken and given back, against a model
 *                                       that knows every page
 *     extent_check spare                unneeded memory goes, and memory in use stays
 *     extent_check report               the reports to the daemon */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "explicit/slot.h"
#include "memory/ledger.h"

static struct account account;
static struct extents extents;
static uint64_t random_state;

static uint64_t random_below(uint64_t most) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % most;
}

static void receive(uint64_t bytes) {
    int descriptor = memfd_create("extent_check", MFD_CLOEXEC);
    CHECK(descriptor >= 0 && ftruncate(descriptor, (off_t)bytes) == 0);
    extents_receive(&extents, descriptor, bytes);
    close(descriptor);
}

static uint64_t held(void) {
    return extents_look(&extents, 0).held;
}

static void drop_all(void) {
    for (struct extent *spare; (spare = extents_take_spare(&extents, 0));)
        extent_unmap(spare);
}

enum { SLOTS = 60 };

static struct slot slots[SLOTS];
static uint64_t sizes[SLOTS];

static uint64_t bytes_of(const struct slot *slot) {
    uint64_t bytes = 0;
    for (unsigned i = 0; i < slot->count; i++)
        bytes += slot_piece_bytes(&slot->pieces[i]);
    return bytes;
}

/* Each slot, and no other one, writes its number to all of its pages. */
static void mark(int number) {
    for (unsigned i = 0; i < slots[number].count; i++)
        for (unsigned page = 0; page < slots[number].pieces[i].pages; page++)
            slot_piece_at(&slots[number].pieces[i])[page * EXTENT_PAGE] = (char)(number + 1);
}

static void check_mark(int number) {
    for (unsigned i = 0; i < slots[number].count; i++)
        for (unsigned page = 0; page < slots[number].pieces[i].pages; page++)
            CHECK(slot_piece_at(&slots[number].pieces[i])[page * EXTENT_PAGE] ==
                  (char)(number + 1));
}

static void take(int number, uint64_t free_bytes) {
    uint64_t bytes = 1 + random_below(random_below(8) ? 40 << 20 : 300 << 20);
    uint64_t whole = (bytes + EXTENT_PAGE - 1) / EXTENT_PAGE * EXTENT_PAGE;
    int result = slot_take(&slots[number], &extents, bytes);
    CHECK(result == (whole <= free_bytes ? 0 : -EAGAIN));
    CHECK(slot_is_taken(&slots[number]) == (result == 0));
    if (result < 0)
        return;
    sizes[number] = whole;
    CHECK(bytes_of(&slots[number]) == whole);
    CHECK(slot_take(&slots[number], &extents, bytes) == 0 && bytes_of(&slots[number]) == whole);
    mark(number);
}

static uint64_t in_use(void) {
    uint64_t bytes = 0;
    for (int i = 0; i < SLOTS; i++)
        bytes += slot_is_taken(&slots[i]) ? sizes[i] : 0;
    return bytes;
}

static void check_model(uint64_t seed, long steps) {
    random_state = seed * 2 + 1;
    for (long step = 0; step < steps; step++) {
        int number = (int)random_below(SLOTS);
        if (random_below(40) == 0 && held() < (uint64_t)1 << 30)
            receive((1 + random_below(EXTENT_PAGES_MAX)) * EXTENT_PAGE);
        if (slot_is_taken(&slots[number])) {
            check_mark(number);
            slot_give_back(&slots[number], &extents);
            CHECK(!slot_is_taken(&slots[number]));
        } else {
            take(number, held() - in_use());
        }
        CHECK(extents.unused == held() - in_use() && atomic_load(&account.kept) == held());
    }
    for (int i = 0; i < SLOTS; i++)
        slot_give_back(&slots[i], &extents);
    drop_all();
    CHECK(held() == 0 && !extents.first && !extents.last && atomic_load(&account.kept) == 0);
}

static void check_spare(void) {
    struct slot slot = {0};
    for (int i = 0; i < 3; i++)
        receive(EXTENT_BYTES);
    CHECK(slot_take(&slot, &extents, EXTENT_PAGE) == 0);
    CHECK(slot.count == 1 && slot.pieces[0].extent == extents.first);
    CHECK(!extents_have_spare(&extents, 2 * EXTENT_BYTES + 1));
    CHECK(!extents_take_spare(&extents, 2 * EXTENT_BYTES + 1));
    CHECK(extents_have_spare(&extents, 2 * EXTENT_BYTES));
    for (int i = 0; i < 2; i++) {
        struct extent *spare = extents_take_spare(&extents, 0);
        CHECK(spare && spare != slot.pieces[0].extent);
        extent_unmap(spare);
    }
    CHECK(!extents_take_spare(&extents, 0) && held() == EXTENT_BYTES);
    receive(EXTENT_BYTES); /* behind what was the last one */
    slot_give_back(&slot, &extents);
    drop_all();
    CHECK(held() == 0);
}

static void check_report(void) {
    CHECK(!extents_await(&extents, 3 * EXTENT_PAGE));
    CHECK(extents_look(&extents, 7).lacking == 3 * EXTENT_PAGE);
    atomic_store(&extents.is_denied, true);
    receive(2 * EXTENT_PAGE);
    CHECK(!atomic_load(&extents.is_denied)); /* there is hope again */
    CHECK(!extents_await(&extents, 3 * EXTENT_PAGE));
    struct extents_report report = extents_look(&extents, 7);
    CHECK(report.lacking == EXTENT_PAGE && report.most == 7);
    CHECK(report.received == 2 * EXTENT_PAGE && report.held == 2 * EXTENT_PAGE);
    receive(EXTENT_PAGE);
    CHECK(extents_await(&extents, 3 * EXTENT_PAGE) && extents_look(&extents, 7).lacking == 0);
    extents_reconnect(&extents);
    report = extents_look(&extents, 7);
    CHECK(report.received == 0 && report.held == 3 * EXTENT_PAGE);
    /* Memory that cannot be mapped is not asked for again. */
    extents_receive(&extents, -1000, EXTENT_PAGE - 1);
    report = extents_look(&extents, 70 * EXTENT_PAGE);
    CHECK(report.most == report.held && report.received == EXTENT_PAGE - 1);
    drop_all();
}

int main(int count, char **arguments) {
    extents_init(&extents, &account);
    if (count == 4 && strcmp(arguments[1], "model") == 0)
        check_model(strtoull(arguments[2], NULL, 10), strtol(arguments[3], NULL, 10));
    else if (count == 2 && strcmp(arguments[1], "spare") == 0)
        check_spare();
    else if (count == 2 && strcmp(arguments[1], "report") == 0)
        check_report();
    else
        return 2;
    return 0;
}
