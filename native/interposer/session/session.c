#include "session.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "bell.h"
#include "client.h"
#include "descriptor.h"
#include "log.h"
#include "process/clock.h"
#include "process/fork.h"
#include "process/thread.h"

enum { PER_CLIENT = 2 };

/* While the bell cannot be heard, because there is no descriptor for it. And otherwise: the program
 * may have closed the bell, and a child that it has made by itself may have it still. */
static const uint64_t pause_if_deaf = CLOCK_MS(10), longest_pause = CLOCK_MS(5000);

static struct {
    pthread_mutex_t lock;
    struct client *_Atomic clients; /* only ever grows, at its head */
    bool has_thread;
    pthread_t thread;
    _Atomic bool is_stopping;
    struct bell bell; /* wakes the thread */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .bell = {.rung = -1, .heard = -1}};

static void wake_up(void) {
    bell_ring(&state.bell);
}

static uint64_t step_all(uint64_t now) {
    uint64_t due = CLOCK_NEVER;
    for (struct client *client = atomic_load(&state.clients); client; client = client->next) {
        uint64_t own = client_step(client, now);
        if (own < due)
            due = own;
    }
    return due;
}

/* A number that the program has reused meanwhile may be in the set. Its file is not touched: the
 * descriptor is compared once more before it is. */
static unsigned gather(struct pollfd *set, struct client *first) {
    unsigned count = 0;
    set[count++] = (struct pollfd){.fd = state.bell.heard, .events = POLLIN};
    for (struct client *client = first; client; client = client->next) {
        set[count++] = (struct pollfd){.fd = client->connection.socket, .events = POLLIN};
        set[count++] = (struct pollfd){.fd = client->turn.standby, .events = POLLIN};
    }
    return count;
}

static struct timespec until(uint64_t due, uint64_t now, uint64_t most) {
    uint64_t pause = due > now ? due - now : 0;
    pause = pause < most ? pause : most;
    return (struct timespec){(time_t)(pause / 1000000000), (long)(pause % 1000000000)};
}

/* Where the kernel cannot wait for them, the connections are looked at now and then. */
static void wait_for(struct pollfd *set, unsigned count, uint64_t due, uint64_t now) {
    bool is_deaf = state.bell.heard < 0;
    struct timespec timeout = until(due, now, is_deaf ? pause_if_deaf : longest_pause);
    int result = descriptors_await(set, count, &timeout);
    if (result >= 0)
        return;
    for (unsigned i = 0; i < count; i++)
        set[i].revents = result != -EINTR && i % PER_CLIENT ? POLLIN : 0;
    if (result != -EINTR) {
        timeout = until(due, now, pause_if_deaf);
        nanosleep(&timeout, NULL);
    }
}

/* The standby comes first: a program waits for it. A gate that opens by it does not wake this
 * thread, since the daemon's GRANT soon does; frames before that are handled as in the turn. */
static void serve(const struct pollfd *set, struct client *first) {
    if (set[0].revents)
        bell_silence(&state.bell);
    const struct pollfd *own = set + 1;
    for (struct client *client = first; client; client = client->next, own += PER_CLIENT) {
        bool is_ready = own[1].revents, has_come = is_ready && standby_brings_turn(own[1].fd);
        if (has_come || gate_has_begun(&client->device->gate))
            client_standby_ready(client, clock_now());
        else if (is_ready)
            turn_lose_standby(client);
        if (own[0].revents)
            client_receive(client, clock_now());
    }
}

static void *run(void *nothing) {
    (void)nothing;
    struct pollfd set[1 + DEVICES_MAX * PER_CLIENT];
    /* Pauses here are some ten microseconds; by default the kernel adds fifty to each. */
    prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
    while (!atomic_load(&state.is_stopping)) {
        uint64_t now = clock_now();
        struct client *first = atomic_load(&state.clients);
        bell_need(&state.bell);
        uint64_t due = step_all(now);
        unsigned count = gather(set, first);
        wait_for(set, count, due, now);
        serve(set, first);
    }
    for (struct client *client = atomic_load(&state.clients); client; client = client->next)
        client_say_last(client);
    return NULL;
}

/* The driver shuts down when the program ends, and must not be called then. */
static void stop(void) {
    if (!state.has_thread)
        return;
    atomic_store(&state.is_stopping, true);
    wake_up();
    thread_join_soon(state.thread);
    state.has_thread = false;
    devices_stop();
}

static int start(void) {
    int result = bell_need(&state.bell);
    if (result == 0)
        result = thread_start(&state.thread, "nvshare", run, NULL);
    if (result < 0) {
        bell_close(&state.bell);
        return result;
    }
    state.has_thread = true;
    fork_prepare();
    atexit(stop);
    return 0;
}

void session_add(struct device *device) {
    struct client *client = calloc(1, sizeof *client);
    pthread_mutex_lock(&state.lock);
    if (client) {
        client_init(client, device, clock_now());
        client->next = atomic_load(&state.clients);
        atomic_store(&state.clients, client);
    }
    int result = !client ? -ENOMEM : state.has_thread ? 0 : start();
    pthread_mutex_unlock(&state.lock);
    if (result < 0) {
        log_warn_once("nvshare cannot start its thread: this program runs unmanaged");
        device_decide_alone(device);
        gate_open(&device->gate);
    } else {
        wake_up();
    }
}

void session_knock(void *device) {
    (void)device;
    wake_up();
}

void session_memory_changed(struct device *device) {
    if (atomic_load_explicit(&device->memory_has_changed, memory_order_relaxed))
        return;
    if (!atomic_exchange(&device->memory_has_changed, true) && atomic_load(&device->is_managed))
        wake_up();
}

void session_usage_changes(struct device *device) {
    if (atomic_load_explicit(&device->usage.is_followed, memory_order_relaxed))
        return;
    if (!atomic_exchange(&device->usage.is_followed, true) && atomic_load(&device->is_managed))
        wake_up();
}

void session_has_refused(struct device *device) {
    if (atomic_load_explicit(&device->refusals.are_new, memory_order_relaxed))
        return;
    if (!atomic_exchange(&device->refusals.are_new, true) && atomic_load(&device->is_managed))
        wake_up();
}

void session_forget(void) {
    for (struct client *client = atomic_load(&state.clients); client; client = client->next)
        client_forget(client);
    bell_close(&state.bell);
    pthread_mutex_init(&state.lock, NULL);
    atomic_store(&state.clients, NULL);
    atomic_store(&state.is_stopping, false);
    state.has_thread = false;
}
