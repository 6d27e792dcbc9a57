#include "swap.h"

#include "books.h"
#include "client.h"
#include "log.h"
#include "residency.h"

bool swap_is_needed(const struct device *device) {
    /* Less than a block is not worth a wait. */
    return mover_is_busy(&device->mover) ||
           atomic_load_explicit(&device->account.away, memory_order_relaxed) >= RESIDENCY_BLOCK;
}

uint64_t swap_away(struct client *client) {
    return mover_away(&client->device->mover);
}

static int tell(struct client *client, uint64_t turn, struct frame_moved moved) {
    const struct account *account = &client->device->account;
    moved.turn = turn;
    moved.swapped_out = swap_away(client);
    moved.allocated = atomic_load(&account->used);
    moved.pinned = atomic_load(&account->pinned);
    return connection_send(&client->connection, FRAME_MOVED, &moved, sizeof moved);
}

void swap_fill(struct client *client, uint64_t bytes) {
    struct device *device = client->device;
    client->swap.is_filling = true;
    log_debug("GPU %d: %llu bytes are to come back", device->ordinal,
              (unsigned long long)atomic_load(&device->account.away));
    if (mover_order(&device->mover, MOVER_FILL, bytes ? bytes : UINT64_MAX) < 0)
        log_warn_once("nvshare cannot start a thread: memory comes back to the GPU slowly");
}

/* What was left behind as the turn began has come by itself, when it was used. */
static void settle(struct device *device) {
    if (atomic_load(&device->account.away))
        residency_all_there(&books.memory, device->ordinal);
}

void swap_release(struct client *client, uint64_t evict_bytes, struct frame_released *frame) {
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
    swap->is_filling = false;
    uint64_t there = account_there(&device->account);
    uint64_t leaving = evict_bytes < there ? evict_bytes : there;
    swap->owes_moved = leaving > 0;
    swap->out_turn = client->turn.number;
    mover_order(&device->mover, leaving ? MOVER_OUT : MOVER_REST, leaving);
    frame->swapped_out = swap_away(client);
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
    client->swap.owes_moved = true;
    client->swap.out_turn = client->turn.number;
    mover_order(&device->mover, MOVER_OUT, bytes);
    return 0;
}

void swap_lose(struct client *client) {
    struct device *device = client->device;
    client->swap = (struct swap){0};
    if (!client->was_welcome)
        residency_all_there(&books.memory, device->ordinal);
    else if (swap_is_needed(device))
        mover_order(&device->mover, MOVER_FILL_GENTLY, UINT64_MAX);
}

int swap_step(struct client *client, uint64_t now) {
    struct swap *swap = &client->swap;
    struct mover_progress made;
    if ((!swap->is_filling && !swap->owes_moved) || mover_is_busy(&client->device->mover))
        return 0;
    mover_take(&client->device->mover, &made);
    bool was_filling = swap->is_filling, owed = swap->owes_moved;
    swap->is_filling = swap->owes_moved = false;
    if (was_filling)
        turn_is_filled(client, now);
    int result = 0;
    if (owed)
        result = tell(client, swap->out_turn,
                      (struct frame_moved){.out_bytes = made.out_bytes, .ns = made.out_ns});
    if (was_filling && result == 0)
        result = tell(client, client->turn.number,
                      (struct frame_moved){.in_bytes = made.in_bytes, .ns = made.in_ns});
    return result;
}
