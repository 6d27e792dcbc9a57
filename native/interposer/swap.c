#include "swap.h"

#include "books.h"
#include "client.h"
#include "clock.h"
#include "log.h"
#include "residency.h"

/* From the answer to a question until what was asked for is allocated, which is a driver's call. */
static const uint64_t growth_patience = CLOCK_MS(1000);

void swap_init(struct swap *swap) {
    *swap = (struct swap){.due = CLOCK_NEVER};
}

bool swap_is_needed(const struct device *device) {
    /* Less than a block is not worth a wait. */
    return mover_is_busy(&device->mover) || account_absent(&device->account) >= RESIDENCY_BLOCK;
}

uint64_t swap_tell_away(struct client *client) {
    client->swap.told_away = atomic_load(&client->device->account.away);
    return mover_away(&client->device->mover);
}

bool swap_has_come_back(const struct client *client) {
    return atomic_load(&client->device->account.away) < client->swap.told_away &&
           !mover_is_busy(&client->device->mover);
}

static int tell(struct client *client, uint64_t turn, struct frame_moved moved) {
    const struct account *account = &client->device->account;
    moved.turn = turn;
    moved.swapped_out = swap_tell_away(client);
    moved.allocated = atomic_load(&account->used);
    moved.pinned = atomic_load(&account->pinned);
    moved.left = mover_left(&client->device->mover);
    return connection_send(&client->connection, FRAME_MOVED, &moved, sizeof moved);
}

static void order_fill(struct device *device, uint64_t bytes) {
    log_debug("GPU %d: %llu bytes are to come back", device->ordinal,
              (unsigned long long)account_absent(&device->account));
    if (mover_order(&device->mover, MOVER_FILL, bytes ? bytes : UINT64_MAX) < 0)
        log_warn_once("nvshare cannot start a thread: memory comes back to the GPU slowly");
}

void swap_room(struct client *client, uint64_t missing, uint64_t now) {
    client->swap.missing = missing;
    if (client->swap.is_growing)
        client->swap.due = now + growth_patience;
    mover_set_missing(&client->device->mover, missing);
}

void swap_fill(struct client *client, uint64_t bytes) {
    client->swap.is_filling = true;
    order_fill(client->device, bytes);
}

void swap_grow(struct client *client, uint64_t now) {
    struct swap *swap = &client->swap;
    if (!client->turn.is_held || client->turn.is_closing)
        return;
    swap->is_growing = true;
    swap->due = now + growth_patience;
    if (!swap->is_filling)
        turn_stops_to_fill(client);
    swap->is_filling = true;
}

static void stop_filling(struct swap *swap) {
    swap->is_filling = swap->is_growing = false;
    swap->due = CLOCK_NEVER;
}

/* What was left behind as the gate opened has come by itself, when it was used. */
static void settle(struct device *device) {
    if (atomic_load(&device->account.away))
        residency_all_there(&books.memory, device->ordinal);
}

void swap_release(struct client *client, uint64_t evict_bytes, bool is_displaced,
                  struct frame_released *frame) {
    struct device *device = client->device;
    struct swap *swap = &client->swap;
    struct mover_progress progress;
    mover_take(&device->mover, &progress);
    if (swap->is_filling) {
        frame->moved_bytes = progress.in_bytes;
        frame->moved_ns = progress.in_ns;
    } else {
        settle(device);
    }
    stop_filling(swap);
    swap->trim = 0;
    uint64_t there = device_moves_memory(device) ? account_there(&device->account) : 0;
    uint64_t leaving = evict_bytes < there ? evict_bytes : there;
    if (progress.out_bytes)
        tell(client, swap->out_turn,
             (struct frame_moved){.out_bytes = progress.out_bytes, .ns = progress.out_ns});
    swap->owes_moved = leaving > 0 && !is_displaced;
    swap->out_turn = client->turn.number;
    mover_order(&device->mover, swap->owes_moved ? MOVER_OUT : MOVER_REST, leaving);
    if (is_displaced)
        mover_displace(&device->mover, leaving);
    frame->swapped_out = swap_tell_away(client);
    frame->left = mover_left(&device->mover);
}

static void move_out(struct client *client, uint64_t bytes) {
    client->swap.owes_moved = true;
    client->swap.out_turn = client->turn.number;
    mover_order(&client->device->mover, MOVER_OUT, bytes);
}

int swap_evict(struct client *client, uint64_t bytes) {
    struct device *device = client->device;
    uint64_t there = account_there(&device->account);
    bool can_leave = device_moves_memory(device) && bytes && there;
    if (can_leave)
        turn_comes_by_grant(client);
    if (client->turn.is_held || !can_leave)
        return tell(client, client->turn.number, (struct frame_moved){0});
    if (client->swap.owes_moved) {
        mover_order_more(&device->mover, bytes);
        return 0;
    }
    move_out(client, bytes);
    return 0;
}

/* What a turn begins with comes first; and at its end the daemon says anew what is to leave. */
static void begin_trim(struct client *client) {
    struct swap *swap = &client->swap;
    if (!swap->trim || swap->is_filling || swap->owes_moved)
        return;
    move_out(client, swap->trim);
    swap->trim = 0;
}

int swap_trim(struct client *client, uint64_t bytes) {
    if (!device_moves_memory(client->device))
        return tell(client, client->turn.number, (struct frame_moved){0});
    if (client->turn.is_held && !client->turn.is_closing)
        client->swap.trim += bytes;
    begin_trim(client);
    return 0;
}

void swap_lose(struct client *client) {
    struct device *device = client->device;
    swap_init(&client->swap);
    residency_all_used(&books.memory, device->ordinal); /* nobody looks from now on */
    if (!client->was_welcome)
        settle(device);
    else if (swap_is_needed(device))
        mover_order(&device->mover, MOVER_FILL_GENTLY, UINT64_MAX);
}

/* Whether the gate has to stay closed, though nothing moves just now: for memory that is being allocated. */
static bool still_grows(struct client *client, uint64_t now) {
    struct swap *swap = &client->swap;
    if (!swap->is_growing)
        return false;
    struct account *account = &client->device->account;
    /* In this order: what is allocated is away before it stops to come. */
    bool is_coming = atomic_load(&account->coming) > 0, is_there = atomic_load(&account->away) > 0;
    bool waits = is_coming || (is_there && swap->missing);
    if (!waits || now >= swap->due) {
        swap->is_growing = false;
        swap->due = CLOCK_NEVER;
    }
    return swap->is_growing;
}

static int tell_progress(struct client *client, bool out, bool in) {
    struct mover_progress made;
    mover_take(&client->device->mover, &made);
    log_debug("GPU %d: %llu MiB have left in %llu us, %llu MiB have come in %llu us",
              client->device->ordinal, (unsigned long long)(made.out_bytes >> 20),
              (unsigned long long)(made.out_ns / 1000), (unsigned long long)(made.in_bytes >> 20),
              (unsigned long long)(made.in_ns / 1000));
    int result = 0;
    if (out || made.out_bytes)
        result = tell(client, client->swap.out_turn,
                      (struct frame_moved){.out_bytes = made.out_bytes, .ns = made.out_ns});
    if ((in || made.in_bytes) && result == 0)
        result = tell(client, client->turn.number,
                      (struct frame_moved){.in_bytes = made.in_bytes, .ns = made.in_ns});
    return result;
}

int swap_step(struct client *client, uint64_t now) {
    struct swap *swap = &client->swap;
    if (swap->owes_moved && mover_is_busy(&client->device->mover) &&
        mover_has_news(&client->device->mover)) {
        swap->owes_moved = mover_left(&client->device->mover) > 0;
        return tell_progress(client, true, false);
    }
    if ((!swap->is_filling && !swap->owes_moved) || mover_is_busy(&client->device->mover) ||
        still_grows(client, now))
        return 0;
    bool was_filling = swap->is_filling, owed = swap->owes_moved;
    swap->owes_moved = false;
    stop_filling(swap);
    if (was_filling)
        turn_is_filled(client, now);
    int result = tell_progress(client, owed, was_filling);
    begin_trim(client);
    return result;
}
