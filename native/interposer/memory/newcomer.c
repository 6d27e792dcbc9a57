#include "newcomer.h"

#include <unistd.h>

#include "log.h"
#include "process/clock.h"
#include "process/devices.h"
#include "session/session.h"

/* How long to wait for room for a context: without a daemon, or when others need all of it; or when
 * there should be room, since a driver may be about to clear memory that was given back. */
static const uint64_t room_patience = CLOCK_MS(5000);
enum { PAUSE_US = 10000, LONG_PAUSE_US = 100000 };

/* Others finish their work and move memory out before the answer comes. The daemon decides how long
 * that may take. One that sends nothing at all has other problems. */
static const uint64_t answer_patience = CLOCK_MS(120000);

static void say_why(CUdevice ordinal, enum ask_result why) {
    if (why == ASK_TOO_LARGE)
        log_warn_once("GPU %d has no room for a context: the memory of other programs there "
                      "cannot move. End some of them, or run them with memory that can move",
                      ordinal);
    else if (why == ASK_NOT_NOW)
        log_warn_once(
            "GPU %d has no room for a context: the explicit memory of another program has "
            "to be there all at the same time, and would not fit beside the context. End programs, "
            "or run the other program with NVSHARE_ALLOCATION=managed",
            ordinal);
    else
        log_warn_once("GPU %d has no room for a context: more memory would have to move to "
                      "the host than the daemon's setting host_memory allows. Raise host_memory, "
                      "or run fewer programs",
                      ordinal);
}

static void begin(struct newcomer *newcomer, CUdevice ordinal) {
    newcomer->device = device_get_for_context(ordinal);
    newcomer->until = clock_now() + room_patience;
}

static bool goes_on(const struct newcomer *newcomer, unsigned pause_us) {
    usleep(pause_us);
    return clock_now() < newcomer->until;
}

bool newcomer_waits(struct newcomer *newcomer, CUdevice ordinal) {
    if (!newcomer->until)
        begin(newcomer, ordinal);
    struct device *device = newcomer->device;
    if (device && gate_await_decision(&device->gate) < 0)
        return false;
    if (!device || newcomer->has_room || !atomic_load(&device->is_managed))
        return goes_on(newcomer, PAUSE_US);
    enum ask_result answer = ask_for_context(&device->context_ask, answer_patience);
    switch (answer) {
    case ASK_YES:
        newcomer->has_room = true;
        newcomer->until = clock_now() + room_patience;
        return true;
    case ASK_SILENCE: return goes_on(newcomer, PAUSE_US);
    case ASK_NOT_NOW:
        if (goes_on(newcomer, LONG_PAUSE_US))
            return true;
        break;
    default: break;
    }
    say_why(ordinal, answer);
    return false;
}

void newcomer_is_done(const struct newcomer *newcomer, CUdevice ordinal, bool has_context) {
    struct device *device = device_known(ordinal);
    if (!device)
        return;
    bool had_context = atomic_load(&device->has_context);
    bool is_counted_in_vain = newcomer->has_room && !has_context;
    if (has_context)
        atomic_store(&device->has_context, true);
    if (is_counted_in_vain || (has_context && !had_context)) {
        atomic_store(&device->context_has_changed, true);
        session_knock(device);
    }
}
