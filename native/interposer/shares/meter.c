#include "meter.h"

#include <stdlib.h>

#include "process/contexts.h"
#include "process/devices.h"

enum {
    /* One more than can be in flight: the next one's first event is the last one's second. */
    SPANS = 32,
    STANDS_FOR = 8, /* calls, on average, where they are short */
};

/* Events around a call cost a few microseconds: a tenth of this. */
static const uint64_t short_call_ns = 30 * 1000;

/* Moments are fractions of a millisecond with 24 bits, and worse than a microsecond after this
 * time. */
static const uint64_t longest_count_ns = 8ull * 1000 * 1000 * 1000;

/* A call that is measured, or was. */
struct span {
    CUevent from, to; /* events that it uses */
    CUevent own[2];   /* events that it owns: when it is reused, no other span needs them */
    CUstream stream;
    unsigned calls; /* that it stands for */
};

/* Of a thread in one context. Most threads have one; a thread that drives several GPUs has one for
 * each. */
struct spans {
    struct spans *next;
    uint64_t context; /* the context of these events */
    struct span ring[SPANS];
    unsigned oldest, count;
    struct span *open; /* between meter_begin and meter_end */
    uint64_t mean_ns;  /* of a call; 0: none has completed yet */
    uint32_t random;
};

static struct {
    pthread_once_t once;
    pthread_key_t key;
} threads = {.once = PTHREAD_ONCE_INIT};

void meter_init(struct meter *meter) {
    *meter = (struct meter){0};
    pthread_mutex_init(&meter->lock, NULL);
}

/* Events go with their context. Those of another context that still exists are destroyed. */
static void drop_events(struct spans *spans) {
    bool alive = context_exists(spans->context);
    for (unsigned i = 0; i < SPANS; i++)
        for (unsigned j = 0; j < 2; j++) {
            if (spans->ring[i].own[j] && alive)
                real.cuEventDestroy_v2(spans->ring[i].own[j]);
            spans->ring[i].own[j] = NULL;
        }
    spans->count = 0;
    spans->open = NULL;
}

static void free_all(void *first) {
    for (struct spans *spans = first, *next; spans; spans = next) {
        next = spans->next;
        drop_events(spans);
        free(spans);
    }
}

static void make_key(void) {
    pthread_key_create(&threads.key, free_all);
}

static struct spans *add_spans(struct spans *first, uint64_t context) {
    struct spans *spans = calloc(1, sizeof *spans);
    if (!spans)
        return NULL;
    *spans = (struct spans){.next = first, .context = context};
    if (pthread_setspecific(threads.key, spans) == 0)
        return spans;
    free(spans);
    return NULL;
}

/* Spans of a context that is gone are reused for another. */
static struct spans *spans_of(uint64_t context) {
    pthread_once(&threads.once, make_key);
    struct spans *first = pthread_getspecific(threads.key), *unused = NULL;
    for (struct spans *spans = first; spans; spans = spans->next) {
        if (spans->context == context)
            return spans;
        if (!context_exists(spans->context))
            unused = spans;
    }
    if (!unused)
        return add_spans(first, context);
    drop_events(unused);
    unused->context = context;
    return unused;
}

/* NULL without a context, and when there is no memory. */
static struct spans *own_spans(void) {
    const struct context *context = context_here();
    return context ? spans_of(context->id) : NULL;
}

/* Another thread may be capturing; see inflight.c. */
static CUstreamCaptureMode relax(CUstreamCaptureMode mode) {
    real.cuThreadExchangeStreamCaptureMode(&mode);
    return mode;
}

static struct span *newest(struct spans *spans) {
    return spans->count ? &spans->ring[(spans->oldest + spans->count - 1) % SPANS] : NULL;
}

static bool is_complete(const struct span *span) {
    return real.cuEventQuery(span->to) != CUDA_ERROR_NOT_READY;
}

static bool between(CUevent from, CUevent to, uint64_t *ns) {
    float ms;
    if (real.cuEventElapsedTime(&ms, from, to) != CUDA_SUCCESS)
        return false;
    *ns = ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
    return true;
}

/* The end of a span becomes the base of all moments; the span gets the former base instead. */
static void count_from(struct meter *meter, struct span *span, uint64_t to) {
    CUevent before = meter->base;
    meter->base = span->to;
    meter->base_ns = to;
    span->own[1] = before;
}

/* The part of a span that was not counted for any other. */
static uint64_t uncounted(struct meter *meter, struct span *span, uint64_t took) {
    uint64_t to;
    if (!between(meter->base, span->to, &to))
        return took;
    bool is_long = to > longest_count_ns;
    to += meter->base_ns;
    uint64_t from = to > took ? to - took : 0;
    if (from < meter->known_to)
        from = meter->known_to;
    if (to > meter->known_to)
        meter->known_to = to;
    if (is_long)
        count_from(meter, span, to);
    return to > from ? to - from : 0;
}

/* A mean over the last few. It is never 0 again. */
static void learn(struct spans *spans, uint64_t took) {
    uint64_t mean = spans->mean_ns ? spans->mean_ns - spans->mean_ns / 4 + took / 4 : took;
    spans->mean_ns = mean ? mean : 1;
}

/* Returns the time that the oldest span stands for. */
static uint64_t take_oldest(struct spans *spans, struct device *device) {
    struct span *span = &spans->ring[spans->oldest];
    struct meter *meter = &device->meter;
    uint64_t took;
    spans->oldest = (spans->oldest + 1) % SPANS;
    spans->count--;
    if (!between(span->from, span->to, &took))
        return 0;
    learn(spans, took);
    pthread_mutex_lock(&meter->lock);
    /* Events of two contexts cannot be compared. */
    if (meter->context == spans->context)
        took = uncounted(meter, span, took);
    pthread_mutex_unlock(&meter->lock);
    return took * span->calls;
}

uint64_t meter_collect(struct device *device) {
    struct spans *spans = own_spans();
    uint64_t used = 0;
    if (!spans || !spans->count)
        return 0;
    CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    while (spans->count && is_complete(&spans->ring[spans->oldest]))
        used += take_oldest(spans, device);
    relax(mode);
    return used;
}

bool meter_await(void) {
    struct spans *spans = own_spans();
    if (!spans || !spans->count)
        return false;
    CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    real.cuEventSynchronize(spans->ring[spans->oldest].to);
    relax(mode);
    return true;
}

uint64_t meter_pending(void) {
    struct spans *spans = own_spans();
    uint64_t calls = 0;
    for (unsigned i = 0; spans && i < spans->count; i++)
        calls += spans->ring[(spans->oldest + i) % SPANS].calls;
    /* The first call may take seconds, and so may all that would be launched behind it. And a call
     * that finds no span would never be billed. */
    if (calls && (!spans->mean_ns || spans->count + 1 == SPANS))
        return METER_UNKNOWN;
    return calls ? calls * spans->mean_ns : 0;
}

static CUevent need_event(CUevent *event) {
    /* Blocking, as in inflight.c. */
    if (!*event && real.cuEventCreate(event, CU_EVENT_BLOCKING_SYNC) != CUDA_SUCCESS)
        *event = NULL;
    return *event;
}

static bool record(CUevent *event, CUstream stream) {
    return need_event(event) && real.cuEventRecord(*event, stream) == CUDA_SUCCESS;
}

static void need_base(struct meter *meter, uint64_t context, CUstream stream) {
    pthread_mutex_lock(&meter->lock);
    if (meter->context != context && !context_exists(meter->context)) {
        meter->base = NULL; /* it is gone with its context */
        meter->context = record(&meter->base, stream) ? context : 0;
        meter->base_ns = meter->known_to;
    }
    pthread_mutex_unlock(&meter->lock);
}

static unsigned calls_to_stand_for(struct spans *spans) {
    if (!spans->mean_ns || spans->mean_ns >= short_call_ns)
        return 1;
    /* At random, because programs repeat the same calls in the same order. */
    spans->random = spans->random * 1664525 + 1013904223;
    return 1 + (spans->random >> 16) % (2 * STANDS_FOR - 1);
}

/* The call begins behind the last one, if the GPU is not done with that. */
static bool begin(struct spans *spans, struct span *span, CUstream stream) {
    const struct span *last = newest(spans);
    if (last && last->stream == stream && last->calls == 1 && !is_complete(last)) {
        span->from = last->to;
        return true;
    }
    bool recorded = record(&span->own[0], stream);
    span->from = span->own[0];
    return recorded;
}

unsigned meter_begin(struct device *device, CUstream stream) {
    struct spans *spans = own_spans();
    if (!spans)
        return 1;
    CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    need_base(&device->meter, spans->context, stream);
    struct span *span = &spans->ring[(spans->oldest + spans->count) % SPANS];
    bool has_begun = spans->count + 1 < SPANS && begin(spans, span, stream);
    spans->open = has_begun ? span : NULL;
    unsigned calls = has_begun ? calls_to_stand_for(spans) : 1;
    span->calls = has_begun ? calls : span->calls;
    relax(mode);
    return calls;
}

void meter_end(CUstream stream) {
    struct spans *spans = own_spans();
    if (!spans || !spans->open)
        return;
    struct span *span = spans->open;
    CUstreamCaptureMode mode = relax(CU_STREAM_CAPTURE_MODE_RELAXED);
    if (record(&span->own[1], stream)) {
        span->to = span->own[1];
        span->stream = stream;
        spans->count++;
    }
    spans->open = NULL;
    relax(mode);
}

/* The parent's contexts mean nothing here, so nothing of them is looked at again. */
void meter_forget(void) {
    pthread_once(&threads.once, make_key);
    pthread_setspecific(threads.key, NULL);
}
