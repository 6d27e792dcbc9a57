#include "inflight.h"

#include <pthread.h>
#include <stdlib.h>

#include "process/clock.h"
#include "process/contexts.h"
#include "process/devices.h"
#include "process/streams.h"
#include "session/session.h"

enum {
    WINDOW_FIRST = 8,
    WINDOW_LEAST = 2,   /* one call runs while the next is prepared */
    WINDOW_MOST = 1024, /* the driver itself queues no more */
    PARTS = 16,         /* marks at most; the window has eight, but may have shrunk meanwhile */
    FINE = 16,          /* the window grows by fractions of a call */
    UNBOUNDED = 4096,   /* calls between two looks where nothing can be bounded */
    SLACK_MOST = 8,     /* times the bound */
    CALM = 64,          /* waits in time until the slack is reduced */
};

struct mark {
    CUevent event;
    CUstream stream;
    uint64_t recorded_ns;
    unsigned calls; /* since the mark before */
};

struct window {
    unsigned fine_size; /* calls that may be in flight, times FINE */
    unsigned in_flight; /* calls that are in flight, up to the newest mark */
    uint64_t shrunk_ns; /* when; 0: never. What was recorded before then says nothing new */
    uint64_t context;   /* the context that owns these events */
    unsigned granted;   /* calls up to the next step, which sees that they have been made */
    unsigned slack;     /* times the bound is exceeded, because the thread was woken late */
    unsigned calm;      /* waits since then that ended in time */
    unsigned late_ends; /* late ends of turns, as counted when the slack was last reduced for one */
    struct mark marks[PARTS];
    unsigned oldest, count;
};

/* How long a call waits for work that may wait for this very call. */
static const uint64_t longest_doubt = CLOCK_MS(100);

static struct {
    pthread_once_t once;
    pthread_key_t key;
} threads = {.once = PTHREAD_ONCE_INIT};

/* Events go with their context. Those of another context that still exists are destroyed. */
static void drop_events(struct window *window) {
    bool alive = context_exists(window->context);
    for (unsigned i = 0; i < PARTS; i++) {
        if (window->marks[i].event && alive)
            real.cuEventDestroy_v2(window->marks[i].event);
        window->marks[i].event = NULL;
    }
    window->count = window->in_flight = 0;
}

static void free_window(void *window) {
    drop_events(window);
    free(window);
}

static void make_key(void) {
    pthread_key_create(&threads.key, free_window);
}

static struct window *own_window(void) {
    pthread_once(&threads.once, make_key);
    struct window *window = pthread_getspecific(threads.key);
    if (window)
        return window;
    window = calloc(1, sizeof *window);
    if (!window || pthread_setspecific(threads.key, window) != 0) {
        free(window);
        return NULL;
    }
    window->fine_size = WINDOW_FIRST * FINE;
    window->slack = 1;
    return window;
}

static unsigned size_of(const struct window *window) {
    return window->fine_size / FINE;
}

/* How many calls there are from one mark to the next. */
static unsigned part_of(const struct window *window) {
    unsigned part = size_of(window) / 8;
    return part ? part : 1;
}

static void forget_oldest(struct window *window) {
    window->in_flight -= window->marks[window->oldest].calls;
    window->oldest = (window->oldest + 1) % PARTS;
    window->count--;
}

/* Returns how many marks were complete. */
static unsigned forget_complete(struct window *window) {
    unsigned before = window->count;
    while (window->count &&
           real.cuEventQuery(window->marks[window->oldest].event) != CUDA_ERROR_NOT_READY)
        forget_oldest(window);
    return before - window->count;
}

static void record(struct window *window, CUstream stream, uint64_t now) {
    struct mark *mark = &window->marks[(window->oldest + window->count) % PARTS];
    /* Blocking: a waiting thread would otherwise spin on a processor that the program needs. */
    const unsigned flags = CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC;
    if (!mark->event && real.cuEventCreate(&mark->event, flags) != CUDA_SUCCESS) {
        mark->event = NULL;
        return;
    }
    if (real.cuEventRecord(mark->event, stream) != CUDA_SUCCESS)
        return;
    mark->stream = stream;
    mark->recorded_ns = now;
    mark->calls = part_of(window);
    window->in_flight += mark->calls;
    window->count++;
}

static void set_size(struct window *window, uint64_t fine_size) {
    const uint64_t least = WINDOW_LEAST * FINE, most = WINDOW_MOST * FINE;
    window->fine_size = (unsigned)(fine_size < least ? least : fine_size > most ? most : fine_size);
}

/* Grows by one call in the time that it takes to see the effect. Grows faster while the window was
 * never too large, and when the GPU has nothing left to do. */
static void grow(struct window *window, bool was_idle) {
    unsigned growth = FINE * part_of(window);
    if (window->shrunk_ns && !was_idle)
        growth /= size_of(window);
    set_size(window, window->fine_size + (growth ? growth : 1));
}

/* Shrinks to half, or to what would have fitted, if that is less. */
static void shrink(struct window *window, uint64_t delay_ns, uint64_t bound_ns, uint64_t now) {
    uint64_t fitting = window->fine_size * bound_ns / delay_ns;
    set_size(window, fitting < window->fine_size / 2 ? fitting : window->fine_size / 2);
    window->shrunk_ns = now;
}

static bool has_room(const struct window *window) {
    return window->count < PARTS && window->in_flight + part_of(window) <= size_of(window);
}

/* Whether the oldest mark has been in flight for too long. A mark shrinks the window once. */
static bool is_late(struct window *window, uint64_t bound_ns, uint64_t now) {
    const struct mark *oldest = &window->marks[window->oldest];
    uint64_t delay = now - oldest->recorded_ns;
    if (delay > bound_ns && oldest->recorded_ns > window->shrunk_ns)
        shrink(window, delay, bound_ns, now);
    return delay > bound_ns;
}

static bool is_complete(const struct mark *mark) {
    return real.cuEventQuery(mark->event) != CUDA_ERROR_NOT_READY;
}

/* Whether the newest mark and the oldest, which may be in another stream, are complete: the GPU has
 * had nothing to do since. */
static bool is_dry(const struct window *window) {
    if (!window->count)
        return true;
    const struct mark *newest = &window->marks[(window->oldest + window->count - 1) % PARTS];
    return is_complete(newest) && is_complete(&window->marks[window->oldest]);
}

/* A mark of another stream may wait for this very call. So the wait is cut short if the call would
 * run at once. */
static void wait_for(const struct mark *mark, CUstream stream, uint64_t bound_ns) {
    if (mark->stream == stream) {
        real.cuEventSynchronize(mark->event);
        return;
    }
    uint64_t begun = clock_now(), waited = 0;
    const uint64_t bearable = 2 * bound_ns < longest_doubt ? 2 * bound_ns : longest_doubt;
    while (!is_complete(mark)) {
        if (waited > bearable && real.cuStreamQuery(stream) != CUDA_ERROR_NOT_READY)
            return;
        const struct timespec pause = {0, waited < CLOCK_MS(2) ? 20000 : (long)CLOCK_MS(1) / 4};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        waited = clock_now() - begun;
    }
}

/* Waits until the window has room for one more part, but never for the newest mark: the work before
 * it keeps the GPU busy meanwhile. A thread that was woken so late that the GPU has run dry has
 * measured its own delay, not the amount of work. Returns how many marks have completed in time. */
static unsigned wait_for_room(struct window *window, struct usage *usage, CUstream stream,
                              uint64_t bound_ns, uint64_t now) {
    unsigned completed = 0;
    bool late = window->count && is_late(window, bound_ns, now);
    while (window->count > 1 && (late || !has_room(window))) {
        usage_wait_begins(usage);
        wait_for(&window->marks[window->oldest], stream, bound_ns);
        now = usage_wait_ends(usage);
        late = !is_dry(window) && is_late(window, bound_ns, now);
        completed += !late;
        forget_oldest(window);
    }
    return late ? 0 : completed;
}

/* Where all processors are busy, a waiting thread may be woken late. Then more work has to be in
 * flight so that the GPU does not run dry. If a turn ended late because of it, others had to wait,
 * which is worse. */
static void adjust_slack(struct window *window, const struct device *device) {
    unsigned late_ends = atomic_load_explicit(&device->late_ends, memory_order_relaxed);
    if (late_ends != window->late_ends) {
        window->late_ends = late_ends;
        window->slack = window->slack / 2 ? window->slack / 2 : 1;
    } else if (is_dry(window)) {
        window->slack = window->slack * 2 < SLACK_MOST ? window->slack * 2 : SLACK_MOST;
        window->calm = 0;
    } else if (window->slack > 1 && ++window->calm >= CALM) {
        window->slack--;
        window->calm = 0;
    }
}

void inflight_turn_ended(struct device *device, uint64_t drained_ns) {
    if (drained_ns > 2 * atomic_load_explicit(&device->inflight_ns, memory_order_relaxed))
        atomic_fetch_add_explicit(&device->late_ends, 1, memory_order_relaxed);
}

/* The window oscillates, and at its widest holds one call more than fits. Others wait for a program
 * of low priority more often, and in the middle of its turns. */
static uint64_t bound_of(const struct device *device) {
    uint64_t most = atomic_load_explicit(&device->inflight_ns, memory_order_relaxed) / 4 * 3;
    return atomic_load_explicit(&device->is_low, memory_order_relaxed) ? most / 2 : most;
}

/* The window grows only by calls that are seen to complete in time: a thousand launches take a few
 * milliseconds, and the first of them may run for a second. */
static void step(struct window *window, struct device *device, CUstream stream) {
    uint64_t now = clock_now();
    unsigned completed = forget_complete(window);
    bool was_idle = window->count == 0;
    usage_saw(&device->usage, was_idle ? now : window->marks[window->oldest].recorded_ns, now,
              window->granted);
    if (window->count < PARTS)
        record(window, stream, now);
    unsigned before = window->count;
    uint64_t bound_ns = bound_of(device) * window->slack;
    completed += wait_for_room(window, &device->usage, stream, bound_ns, now);
    if (window->count < before)
        adjust_slack(window, device);
    if (completed)
        grow(window, was_idle);
}

static long grant(struct window *window) {
    window->granted = part_of(window);
    return window->granted - 1;
}

long inflight_step(struct device *device, CUstream stream) {
    const struct context *context = context_here();
    struct window *window = own_window();
    if (!window || !context)
        return UNBOUNDED;
    if (stream_is_capturing(stream)) {
        window->granted = 0; /* captured calls are not launched */
        return part_of(window) - 1;
    }
    if (window->context != context->id) {
        drop_events(window);
        window->context = context->id;
    }
    /* Another thread may be capturing. Then the driver refuses queries from threads that are not in
     * relaxed mode. */
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    real.cuThreadExchangeStreamCaptureMode(&mode);
    step(window, device, stream);
    real.cuThreadExchangeStreamCaptureMode(&mode);
    session_usage_changes(device);
    return grant(window);
}

void inflight_forget(void) {
    struct window *window = own_window();
    if (window)
        *window = (struct window){.fine_size = WINDOW_FIRST * FINE, .slack = 1};
}
