/* The child of a fork has one thread, and copies of descriptors and locks that mean nothing to it.
 * It gives them all up, and is like a program that has not used a GPU yet. exec needs nothing: it
 * closes the descriptors. */
#include "fork.h"

#include <pthread.h>

#include "contexts.h"
#include "devices.h"
#include "gate/gate.h"
#include "gate/inflight.h"
#include "gate/inside.h"
#include "memory/allocations.h"
#include "memory/pools.h"
#include "memory/sample.h"
#include "session/session.h"
#include "shares/meter.h"
#include "streams.h"

static void begin_anew(void) {
    session_forget();
    devices_forget();
    contexts_forget();
    streams_forget();
    books_forget();
    inflight_forget();
    meter_forget();
    pools_forget();
    sample_forget();
    inside_forget();
    gate_thread = (struct gate_thread){.gate = &gate_unknown};
}

static void register_child(void) {
    pthread_atfork(NULL, NULL, begin_anew);
}

void fork_prepare(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_child);
}
