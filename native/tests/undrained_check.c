/* undrained.c on a simulated program and GPU, and a clock that advances in milliseconds.
 *
 *     undrained_check WHAT
 *
 * How long a gate stays closed before it opens again, and what the library learns from that. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "gate/drain.h"
#include "gate/undrained.h"
#include "log.h"
#include "process/clock.h"
#include "session/client.h"

enum { NEVER = 1 << 20 };

/* The behaviour of the program and the GPU. */
static bool waits, is_free, old_is_done, has_called;
static int told;

static struct device device;
static struct client client = {.device = &device};
static uint64_t now = CLOCK_MS(1000);

unsigned gate_waiting(struct gate *gate) {
    (void)gate;
    return waits;
}

bool gate_glance(struct gate *gate) {
    (void)gate;
    bool called = has_called;
    has_called = false;
    return called;
}

bool drain_could_go_on(struct device *of) {
    (void)of;
    return is_free;
}

bool drain_note_old(struct device *of) {
    (void)of;
    old_is_done = false;
    return true;
}

bool drain_old_is_done(struct device *of) {
    (void)of;
    return old_is_done;
}

int connection_send(struct connection *connection, enum frame_type type, const void *fields,
                    size_t size) {
    (void)connection, (void)fields, (void)size;
    CHECK(type == FRAME_CAN_DRAIN);
    told++;
    return 0;
}

void log_line(enum log_level level, const char *format, ...) {
    (void)level, (void)format;
}

/* Returns for how many milliseconds the gate is closed, with the same work in flight all the time. */
static int stay_closed(int most) {
    undrained_begin(&client, now);
    for (int ms = 0; ms < most; ms++, now += CLOCK_MS(1))
        if (undrained_look(&client, now)) {
            undrained_observe(&client, now);
            return ms;
        }
    return NEVER;
}

/* The gate is open for this long; calls pass at this interval until `calls_until`; the work ends at
 * `ends`. */
static void stay_open(int ms, int calls_until, int ends) {
    for (int at = 0; at < ms; at++, now += CLOCK_MS(1)) {
        has_called |= at % 5 == 0 && at < calls_until;
        old_is_done |= at >= ends;
        undrained_step(&client, now);
    }
}

static void begin(bool function, bool for_free_stream) {
    undrained_init(&client.turn.undrained);
    atomic_store(&device.functions, function);
    waits = true;
    is_free = for_free_stream;
    told = 0;
}

/* Work that is fed all the time is held up once, and then for moments. */
static void check_fed(void) {
    begin(false, true);
    CHECK(stay_closed(60000) == 300);
    CHECK(client.turn.undrained.reason == UNDRAINED_REASON_STREAM);
    for (int i = 0; i < 5; i++) {
        stay_open(2000, 2000, NEVER);
        CHECK(stay_closed(60000) == 50);
    }
    CHECK(told == 0);
}

/* Work that ends soon after a call has needed it, and is known from then on. */
static void check_needed(void) {
    begin(false, true);
    CHECK(stay_closed(60000) == 300);
    stay_open(3000, 3000, 2000);
    CHECK(told == 1);
    CHECK(stay_closed(60000) == 50);
    stay_open(1000, 1, 30);
    CHECK(told == 2);
    CHECK(stay_closed(60000) == 50);
}

/* Work that ends long after the last call was just long. */
static void check_long(void) {
    begin(false, true);
    CHECK(stay_closed(60000) == 300);
    stay_open(9000, 20, 8000);
    CHECK(told == 1);
    CHECK(stay_closed(60000) == 4800);
    stay_open(9000, 20, 8000);
    /* The last resort, for waiting programs. */
    CHECK(stay_closed(60000) == 20000);
    CHECK(client.turn.undrained.reason == UNDRAINED_REASON_TIME);
    stay_open(9000, 20, 8000);
    CHECK(stay_closed(60000) == NEVER);
}

/* A call queued after the work in flight does not help that work, most likely. */
static void check_behind(void) {
    begin(false, false);
    CHECK(stay_closed(60000) == 20000);
    CHECK(client.turn.undrained.reason == UNDRAINED_REASON_TIME);
    stay_open(5000, 20, 4000);
    CHECK(stay_closed(300000) == NEVER);
    begin(false, false);
    CHECK(stay_closed(60000) == 20000);
    stay_open(1000, 20, 10);
    CHECK(stay_closed(60000) == 300);
}

static void check_function(void) {
    begin(true, false);
    for (int i = 0; i < 3; i++) {
        CHECK(stay_closed(60000) == 100);
        CHECK(client.turn.undrained.reason == UNDRAINED_REASON_FUNCTION);
        stay_open(3000, 20, 2000);
    }
}

/* Without a waiting call the gate need not open. */
static void check_nobody(void) {
    begin(true, true);
    waits = false;
    is_free = false;
    CHECK(stay_closed(60000) == NEVER);
    /* The wait for a late call begins when it comes. */
    undrained_begin(&client, now);
    for (int ms = 0; ms < 50; ms++, now += CLOCK_MS(1)) {
        waits = ms < 40;
        CHECK(!undrained_look(&client, now));
    }
    waits = true;
    CHECK(!undrained_look(&client, now));
    now += CLOCK_MS(99);
    CHECK(!undrained_look(&client, now));
    now += CLOCK_MS(1);
    CHECK(undrained_look(&client, now));
}

/* A turn that has ended says nothing about work that ends in the next one. */
static void check_end(void) {
    begin(false, true);
    CHECK(stay_closed(60000) == 300);
    stay_open(100, 100, NEVER);
    CHECK(stay_closed(20) == NEVER);
    undrained_end(&client);
    CHECK(undrained_due(&client) == CLOCK_NEVER);
    stay_open(5000, 0, 10);
    CHECK(told == 0);
    CHECK(stay_closed(60000) == 300);
}

/* If a program holds its turn together with others, its work in flight may wait for theirs. */
static void check_holding(void) {
    for (int function = 0; function < 2; function++) {
        begin(function, true);
        client.machine.state = MACHINE_HOLDING;
        CHECK(stay_closed(60000) == 2000);
        client.machine.state = MACHINE_OPEN;
        /* It ends when all go on: the needed call is unknown, and nothing is learned. */
        stay_open(3000, 3000, 10);
        CHECK(told == 1);
        client.machine.state = MACHINE_CLOSING;
        CHECK(stay_closed(60000) == (function ? 100 : 300));
    }
    /* For work that is known to be long, the wait is as long. */
    begin(false, true);
    CHECK(stay_closed(60000) == 300);
    stay_open(9000, 20, 8000);
    client.machine.state = MACHINE_HOLDING;
    CHECK(stay_closed(60000) == 4800);
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*check)(void);
    } checks[] = {{"fed", check_fed},           {"needed", check_needed},  {"long", check_long},
                  {"behind", check_behind},     {"nobody", check_nobody},  {"end", check_end},
                  {"function", check_function}, {"holding", check_holding}};
    for (size_t i = 0; count == 2 && i < sizeof checks / sizeof checks[0]; i++)
        if (strcmp(arguments[1], checks[i].name) == 0) {
            checks[i].check();
            return 0;
        }
    return 2;
}
