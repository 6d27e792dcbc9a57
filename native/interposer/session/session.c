#include "session.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "client.h"
#include "descriptor.h"
#include "log.h"
#include "process/clock.h"
#include "process/fork.h"
#include "process/thread.h"

enum { PER_CLIENT = 2 };

static struct {
    pthread_mutex_t lock;
    struct client *_Atomic clients; /* only ever grows, at its head */
    bool has_thread;
    pthread_t thread;
    _Atomic bool is_stopping;
    _Atomic int wake; /* an eventfd */
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1};

static void wake_up(void) {
    const uint64_t one = 1;
    ssize_t written = write(atomic_load(&state.wake), &one, sizeof one);
    (void)written; /* full means that it is going to wake up anyway */
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

static nfds_t gather(struct pollfd *set, struct client *first) {
    nfds_t count = 0;
    set[count++] = (struct pollfd){.fd = atomic_load(&state.wake), .events = POLLIN};
    for (struct client *client = first; client; client = client->next) {
        set[count++] = (struct pollfd){.fd = client->connection.socket, .events = POLLIN};
        set[count++] = (struct pollfd){.fd = client->turn.standby, .events = POLLIN};
    }
    return count;
}

static void wait_for(struct pollfd *set, nfds_t count, uint64_t due, uint64_t now) {
    uint64_t pause = due > now ? due - now : 0;
    struct timespec timeout = {(time_t)(pause / 1000000000), (long)(pause % 1000000000)};
    if (ppoll(set, count, due == CLOCK_NEVER ? NULL : &timeout, NULL) < 0)
        for (nfds_t i = 0; i < count; i++)
            set[i].revents = 0;
}

/* The standby comes first: a program waits for it. A gate that opens by it does not wake this
 * thread, since the daemon's GRANT soon does; frames before that are handled as in the turn. */
static void serve(const struct pollfd *set, struct client *first) {
    uint64_t many;
    if (set[0].revents && read(set[0].fd, &many, sizeof many) < 0)
        log_debug("the thread was woken, but there was nothing to read");
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
        uint64_t due = step_all(now);
        nfds_t count = gather(set, first);
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
    int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0)
        return -errno;
    atomic_store(&state.wake, descriptor_move_away(wake));
    int result = thread_start(&state.thread, "nvshare", run, NULL);
    if (result < 0) {
        close(atomic_exchange(&state.wake, -1));
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
    if (atomic_load(&state.wake) >= 0)
        close(atomic_load(&state.wake));
    pthread_mutex_init(&state.lock, NULL);
    atomic_store(&state.clients, NULL);
    atomic_store(&state.wake, -1);
    atomic_store(&state.is_stopping, false);
    state.has_thread = false;
}
