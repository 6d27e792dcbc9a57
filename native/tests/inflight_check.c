/* inflight.c on a simulated GPU and clock: one stream, kernels of a fixed cost, and time passes
 * only in calls. Prints the figures of a program that launches without a pause.
 *
 *     inflight_check BOUND_US LAUNCHES COST_US [LAUNCHES COST_US]...
 *     inflight_check late LATE_US BOUND_US LAUNCHES COST_US
 *     inflight_check capture
 *     inflight_check elsewhere BOUND_US
 *
 * late: every tenth wait ends this much after the awaited work, because no processor was free for
 * the thread. A second phase without that follows, and a third in which all turns end late.
 *
 * One JSON line per phase: the window's part at its end; the most work in flight in its second
 * half, and ever; the time that the GPU had nothing to do in the second half; the calls that the
 * driver got for it. Since the beginning: the time that the GPU has worked, the time that usage.c
 * knows of, and the calls that it has counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gate/inflight.h"
#include "process/contexts.h"
#include "process/devices.h"
#include "process/streams.h"
#include "session/session.h"

enum { LAUNCH_NS = 5000 };

static uint64_t now, gpu_done; /* when all submitted work is done */
static uint64_t idle_ns, most_in_flight, most_ever, submitted_ns;
static long driver_calls;
static bool capturing;
static uint64_t late_ns; /* by which some waits end later than they might */
static CUstream endless; /* work in this stream does not end */

static struct device device;
static struct context context = {.id = 1, .device = &device};

int clock_gettime(clockid_t clock, struct timespec *out) {
    (void)clock;
    *out = (struct timespec){(time_t)(now / 1000000000), (long)(now % 1000000000)};
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *pause,
                    struct timespec *left) {
    (void)clock, (void)flags, (void)left;
    now += (uint64_t)pause->tv_nsec;
    return 0;
}

const struct context *context_here(void) {
    return &context;
}

bool context_exists(uint64_t id) {
    return id == context.id;
}

bool stream_is_capturing(CUstream stream) {
    (void)stream;
    return capturing;
}

void session_usage_changes(struct device *of) {
    (void)of;
}

/* An event is the moment at which it completes. */
static CUresult event_create(CUevent *event, unsigned flags) {
    (void)flags;
    driver_calls++;
    *event = calloc(1, sizeof(uint64_t));
    return CUDA_SUCCESS;
}

static CUresult event_destroy(CUevent event) {
    free(event);
    return CUDA_SUCCESS;
}

static CUresult event_record(CUevent event, CUstream stream) {
    driver_calls++;
    *(uint64_t *)event = stream && stream == endless ? UINT64_MAX : gpu_done;
    return CUDA_SUCCESS;
}

static CUresult event_query(CUevent event) {
    driver_calls++;
    return *(uint64_t *)event <= now ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult event_synchronize(CUevent event) {
    driver_calls++;
    static unsigned waits;
    if (*(uint64_t *)event > now)
        now = *(uint64_t *)event + (++waits % 10 == 0 ? late_ns : 0);
    return CUDA_SUCCESS;
}

static CUresult stream_query(CUstream stream) {
    return stream == endless ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static CUresult exchange_mode(CUstreamCaptureMode *mode) {
    (void)mode;
    return CUDA_SUCCESS;
}

struct driver_calls real = {.cuEventCreate = event_create,
                            .cuEventDestroy_v2 = event_destroy,
                            .cuEventRecord = event_record,
                            .cuEventQuery = event_query,
                            .cuEventSynchronize = event_synchronize,
                            .cuStreamQuery = stream_query,
                            .cuThreadExchangeStreamCaptureMode = exchange_mode};

static void launch(uint64_t cost_ns) {
    now += LAUNCH_NS;
    if (gpu_done < now) {
        idle_ns += now - gpu_done;
        gpu_done = now;
    }
    gpu_done += cost_ns;
    submitted_ns += cost_ns;
    if (gpu_done - now > most_in_flight)
        most_in_flight = gpu_done - now;
    if (gpu_done - now > most_ever)
        most_ever = gpu_done - now;
}

static void run_phase(long launches, uint64_t cost_ns) {
    static long budget = -1;
    long part = 0;
    driver_calls = 0;
    for (long i = 0; i < launches; i++) {
        if (i == launches / 2)
            idle_ns = most_in_flight = 0;
        if (--budget < 0) {
            budget = inflight_step(&device, NULL);
            part = budget + 1;
        }
        launch(cost_ns);
    }
    struct usage_totals seen = usage_read(&device.usage);
    uint64_t in_flight = gpu_done > now ? gpu_done - now : 0;
    printf("{\"part\": %ld, \"in_flight_us\": %.1f, \"most_us\": %.1f, \"idle_us\": %.1f, "
           "\"calls\": %ld, \"worked_us\": %.1f, \"busy_us\": %.1f, \"launches\": %llu}\n",
           part, (double)most_in_flight / 1000, (double)most_ever / 1000, (double)idle_ns / 1000,
           driver_calls, (double)(submitted_ns - in_flight) / 1000, (double)seen.busy_ns / 1000,
           (unsigned long long)seen.launches);
}

static int run_capture(void) {
    capturing = true;
    for (int i = 0; i < 100; i++)
        inflight_step(&device, NULL);
    printf("{\"calls\": %ld, \"launches\": %llu}\n", driver_calls,
           (unsigned long long)usage_read(&device.usage).launches);
    return 0;
}

static int run_late(char **arguments) {
    long launches = atol(arguments[2]);
    uint64_t cost_ns = strtoull(arguments[3], NULL, 10) * 1000;
    late_ns = strtoull(arguments[0], NULL, 10) * 1000;
    atomic_store(&device.inflight_ns, strtoull(arguments[1], NULL, 10) * 1000);
    run_phase(launches, cost_ns);
    inflight_turn_ended(&device, atomic_load(&device.inflight_ns));
    run_phase(launches / 10, cost_ns);
    for (int i = 0; i < 4; i++) {
        inflight_turn_ended(&device, 3 * atomic_load(&device.inflight_ns));
        run_phase(launches / 100, cost_ns);
    }
    late_ns = 0;
    run_phase(launches, cost_ns);
    return 0;
}

/* Calls for a stream while another one has work that waits for them. Prints for how many
 * milliseconds they are held up in all, and the longest time. */
static int run_elsewhere(void) {
    int here;
    uint64_t began, longest = 0, held_up = 0;
    endless = (CUstream)&here;
    for (int i = 0; i < 3; i++, now += atomic_load(&device.inflight_ns))
        inflight_step(&device, endless);
    for (int i = 0; i < 1000; i++, now += LAUNCH_NS) {
        began = now;
        inflight_step(&device, NULL);
        held_up += now - began;
        longest = now - began > longest ? now - began : longest;
    }
    printf("[%.1f, %.1f]\n", (double)held_up / 1e6, (double)longest / 1e6);
    return 0;
}

int main(int count, char **arguments) {
    usage_init(&device.usage);
    atomic_store(&device.is_managed, true);
    if (count == 2)
        return run_capture();
    if (strcmp(arguments[1], "late") == 0)
        return run_late(arguments + 2);
    bool is_elsewhere = strcmp(arguments[1], "elsewhere") == 0;
    atomic_store(&device.inflight_ns, strtoull(arguments[is_elsewhere ? 2 : 1], NULL, 10) * 1000);
    if (is_elsewhere)
        return run_elsewhere();
    for (int i = 2; i + 1 < count; i += 2)
        run_phase(atol(arguments[i]), strtoull(arguments[i + 1], NULL, 10) * 1000);
    return 0;
}
