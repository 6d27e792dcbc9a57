/* What a client reports to the daemon by itself: its memory, how that is allocated, and its
 * usage. */
#include <string.h>

#include "client.h"
#include "memory/graphs.h"
#include "memory/pools.h"
#include "process/clock.h"

/* Changes of memory are reported at most this often: a program may allocate a million times a
 * second. */
static const uint64_t report_pause = CLOCK_MS(2);

/* Usage is for people and for slow decisions: this often, unless the daemon has too many clients
 * for it. */
static const uint64_t usual_pause = CLOCK_MS(250);

void client_set_usage_pause(struct client *client, uint64_t ms) {
    client->usage_pause = ms ? CLOCK_MS(ms) : usual_pause;
}

/* The other processes of the group, which share its limit, need to know what pools keep. */
static void count_kept(struct device *device) {
    if (atomic_load_explicit(&pools_are_used, memory_order_acquire))
        account_keep(&device->account, pools_keep(device->ordinal));
}

static int tell_memory(struct client *client, uint64_t used, uint64_t ticket) {
    struct account *account = &client->device->account;
    if (used < atomic_load(&account->agreed))
        atomic_store(&account->agreed, used);
    struct frame_memory memory = {.allocated = used,
                                  .pinned = turn_pinned(client),
                                  .swapped_out = swap_tell_away(client),
                                  .ticket = ticket,
                                  .untouched = account_nowhere(account),
                                  .kept = atomic_load(&account->kept)};
    return connection_send(&client->connection, FRAME_MEMORY, &memory, sizeof memory);
}

static int report_pinned(struct client *client) {
    const _Atomic uint64_t *by = client->device->account.pinned_by;
    struct frame_pinned pinned = {.as_asked = atomic_load(&by[PINNED_AS_ASKED]),
                                  .handles = atomic_load(&by[PINNED_HANDLE]),
                                  .rdma = atomic_load(&by[PINNED_RDMA]),
                                  .exported = atomic_load(&by[PINNED_EXPORTED]),
                                  .several_gpus = atomic_load(&by[PINNED_GPUS]),
                                  .pools = atomic_load(&by[PINNED_POOL]),
                                  .arrays = atomic_load(&by[PINNED_ARRAY]),
                                  .graphs = atomic_load(&by[PINNED_GRAPH])};
    if (memcmp(&pinned, &client->told_pinned, sizeof pinned) == 0)
        return 0;
    client->told_pinned = pinned;
    return connection_send(&client->connection, FRAME_PINNED, &pinned, sizeof pinned);
}

/* Before any request that depends on the new kind. */
static int report_kind(struct client *client) {
    struct frame_allocates allocates = {.allocation_kind = device_kind(client->device)};
    if (allocates.allocation_kind == client->told_kind)
        return 0;
    client->told_kind = allocates.allocation_kind;
    return connection_send(&client->connection, FRAME_ALLOCATES, &allocates, sizeof allocates);
}

static int report_context(struct client *client) {
    struct device *device = client->device;
    uint64_t ticket = 0;
    bool is_asked = ask_take(&device->context_ask, 0, &ticket);
    if (!atomic_exchange(&device->context_has_changed, false) && !is_asked)
        return 0;
    struct frame_context context = {.ticket = ticket,
                                    .has_context = atomic_load(&device->has_context)};
    return connection_send(&client->connection, FRAME_CONTEXT, &context, sizeof context);
}

int client_report_memory(struct client *client, uint64_t now) {
    struct device *device = client->device;
    int result = report_kind(client);
    if (result == 0)
        result = report_context(client);
    if (result < 0)
        return result;
    uint64_t used = atomic_load(&device->account.used), ticket;
    if (ask_take(&device->ask, used, &ticket))
        return tell_memory(client, used, ticket);
    if (now < client->report_due)
        return 0;
    if (!atomic_exchange(&device->memory_has_changed, false) && !swap_has_come_back(client))
        return 0;
    client->report_due = now + report_pause;
    result = tell_memory(client, atomic_load(&device->account.used), 0);
    return result < 0 ? result : report_pinned(client);
}

static int tell_usage(struct client *client, struct usage_totals totals) {
    client->told = totals;
    struct share *share = &client->device->share;
    struct frame_usage usage = {.busy_ns = totals.busy_ns,
                                .launches = totals.launches,
                                .throttled_ns = usage_read(&share->throttled).busy_ns,
                                .gpu_ns = atomic_load(&share->gpu_ns)};
    return connection_send(&client->connection, FRAME_USAGE, &usage, sizeof usage);
}

static struct frame_refused refused(const struct device *device) {
    return (struct frame_refused){.over_limit = atomic_load(&device->refusals.by_limit),
                                  .over_gpu = atomic_load(&device->refusals.by_size)};
}

void client_forget_refusals(struct client *client) {
    atomic_store(&client->device->refusals.are_new, false); /* before the next line reads them */
    client->refused_before = refused(client->device);
}

/* The first is reported at once. A program that retries is refused a million times a second. */
int client_report_refusals(struct client *client, uint64_t now) {
    if (now < client->refused_due || !atomic_exchange(&client->device->refusals.are_new, false))
        return 0;
    client->refused_due = now + usual_pause;
    struct frame_refused frame = refused(client->device);
    frame.over_limit -= client->refused_before.over_limit;
    frame.over_gpu -= client->refused_before.over_gpu;
    return connection_send(&client->connection, FRAME_REFUSED, &frame, sizeof frame);
}

void client_say_last(struct client *client) {
    if (client->state == CLIENT_WELCOME)
        client_report_refusals(client, CLOCK_NEVER);
}

/* A thread that uses the GPU after a pause tells the session. From then on the session looks by
 * itself, until there is nothing new; that is reported as well, once. */
int client_report_usage(struct client *client, uint64_t now) {
    struct usage *usage = &client->device->usage;
    if (client->usage_due == CLOCK_NEVER && atomic_load(&usage->is_followed))
        client->usage_due = now + client->usage_pause;
    if (now < client->usage_due)
        return 0;
    atomic_store(&usage->is_followed, false); /* before it looks: later use is told */
    client->usage_due = CLOCK_NEVER;
    struct usage_totals totals = usage_read(usage);
    bool is_new =
        totals.busy_ns != client->told.busy_ns || totals.launches != client->told.launches;
    bool was_new = client->usage_was_new;
    client->usage_was_new = is_new;
    if (is_new || was_new) {
        graphs_count(client->device); /* this memory comes and goes with launches */
        count_kept(client->device);
    }
    if (is_new) {
        atomic_store(&usage->is_followed, true);
        client->usage_due = now + client->usage_pause;
    }
    return is_new || was_new ? tell_usage(client, totals) : 0;
}
