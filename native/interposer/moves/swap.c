#include "swap.h"

#include "log.h"
#include "residency.h"
#include "session/client.h"

bool swap_is_needed(const struct device *device) {
    /* Less than a block is not worth a wait, if it comes when it is used. */
    uint64_t least = device_is_explicit(device) ? 1 : RESIDENCY_BLOCK;
    return mover_is_busy(&device->mover) || account_absent(&device->account) >= least;
}

bool swap_falls_short(struct device *device) {
    pthread_mutex_lock(&device->explicit.regions.lock);
    bool is_away = device->explicit.regions.away > 0;
    pthread_mutex_unlock(&device->explicit.regions.lock);
    return is_away;
}

uint64_t swap_tell_away(struct client *client) {
    client->swap.told_away = atomic_load(&client->device->account.away);
    return mover_away(&client->device->mover);
}

bool swap_has_come_back(const struct client *client) {
    return atomic_load(&client->device->account.away) < client->swap.told_away &&
           !mover_is_busy(&client->device->mover);
}

uint64_t swap_there(const struct device *device) {
    return device_moves_memory(device) ? account_there(&device->account) : 0;
}

uint64_t swap_away(const struct device *device) {
    return account_absent(&device->account);
}

void swap_take(struct client *client) {
    struct mover_progress made, *untold = &client->swap.untold;
    mover_take(&client->device->mover, &made);
    untold->out_bytes += made.out_bytes;
    untold->out_ns += made.out_ns;
    untold->in_bytes += made.in_bytes;
    untold->in_ns += made.in_ns;
    untold->displaced += made.displaced;
    untold->left = made.left;
}

void swap_forget(struct client *client) {
    swap_take(client);
    client->swap.untold = (struct mover_progress){0};
}

static int tell(struct client *client, uint64_t turn, struct frame_moved moved) {
    const struct account *account = &client->device->account;
    moved.turn = turn;
    moved.swapped_out = swap_tell_away(client);
    moved.allocated = atomic_load(&account->used);
    moved.pinned = turn_pinned(client);
    moved.left = mover_left(&client->device->mover);
    moved.untouched = account_nowhere(account);
    moved.kept = atomic_load(&account->kept);
    return connection_send(&client->connection, FRAME_MOVED, &moved, sizeof moved);
}

static int tell_out(struct client *client, uint64_t turn) {
    struct mover_progress *untold = &client->swap.untold;
    struct frame_moved moved = {.out_bytes = untold->out_bytes, .ns = untold->out_ns};
    untold->out_bytes = untold->out_ns = 0;
    return tell(client, turn, moved);
}

static int tell_in(struct client *client, uint64_t turn) {
    struct mover_progress *untold = &client->swap.untold;
    struct frame_moved moved = {.in_bytes = untold->in_bytes, .ns = untold->in_ns};
    untold->in_bytes = untold->in_ns = 0;
    return tell(client, turn, moved);
}

static void look(struct client *client) {
    const struct mover_progress *untold = &client->swap.untold;
    swap_take(client);
    log_debug(
        "GPU %d: moved %llu MiB out (%llu us) and %llu MiB in (%llu us)", client->device->ordinal,
        (unsigned long long)(untold->out_bytes >> 20), (unsigned long long)(untold->out_ns / 1000),
        (unsigned long long)(untold->in_bytes >> 20), (unsigned long long)(untold->in_ns / 1000));
}

int swap_tell_out(struct client *client, uint64_t turn) {
    look(client);
    int result = tell_out(client, turn);
    if (result == 0 && client->swap.untold.in_bytes)
        result = tell_in(client, client->machine.turn);
    return result;
}

int swap_tell_in(struct client *client, uint64_t turn) {
    look(client);
    const struct mover_progress *untold = &client->swap.untold;
    int result = untold->out_bytes ? tell_out(client, client->machine.out_turn) : 0;
    return result < 0 ? result : tell_in(client, turn);
}

int swap_tell_rest(struct client *client) {
    const struct mover_progress *untold = &client->swap.untold;
    int result = untold->out_bytes ? tell_out(client, client->machine.out_turn) : 0;
    return result == 0 && untold->in_bytes ? tell_in(client, client->machine.turn) : result;
}

int swap_answer(struct client *client, uint64_t turn) {
    swap_take(client);
    return tell(client, turn, (struct frame_moved){0});
}
