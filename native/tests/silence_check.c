/* silence.c in virtual time. Prints nothing if all is well. */
#include "session/silence.h"

#include "check.h"
#include "process/clock.h"

static void nobody_waits(void) {
    struct silence silence = {.limit_ns = 400, .is_answered = true};
    CHECK(silence_due(&silence) == CLOCK_NEVER);
    CHECK(silence_look(&silence, false, 1000000) == SILENCE_FINE);
    CHECK(silence_due(&silence) == CLOCK_NEVER);
}

static void who_waits_asks_and_gives_up(void) {
    struct silence silence = {.limit_ns = 400, .is_answered = true};
    CHECK(silence_look(&silence, true, 1000) == SILENCE_FINE);
    CHECK(silence_due(&silence) == 1100);
    CHECK(silence_look(&silence, true, 1099) == SILENCE_FINE);
    CHECK(silence_look(&silence, true, 1100) == SILENCE_ASK);
    CHECK(silence_due(&silence) == 1200);
    CHECK(silence_look(&silence, true, 1200) == SILENCE_ASK);
    CHECK(silence_look(&silence, true, 1300) == SILENCE_ASK);
    CHECK(silence_due(&silence) == 1400);
    CHECK(silence_look(&silence, true, 1399) == SILENCE_FINE);
    CHECK(silence_look(&silence, true, 1400) == SILENCE_GONE);
}

/* A program that was itself stopped for long has received nothing: it asks before it gives up. */
static void who_was_stopped_asks_first(void) {
    struct silence silence = {.limit_ns = 400, .is_answered = true};
    silence_look(&silence, true, 1000);
    CHECK(silence_look(&silence, true, 1000000) == SILENCE_ASK);
    silence_heard(&silence, 1000001);
    CHECK(silence_look(&silence, true, 1000002) == SILENCE_FINE);
}

static void any_word_is_an_answer(void) {
    struct silence silence = {.limit_ns = 400, .is_answered = true};
    silence_look(&silence, true, 1000);
    CHECK(silence_look(&silence, true, 1100) == SILENCE_ASK);
    silence_heard(&silence, 1150);
    CHECK(silence_due(&silence) == 1250);
    /* A new wait begins anew. */
    silence_look(&silence, false, 1160);
    CHECK(silence_due(&silence) == CLOCK_NEVER);
    silence_look(&silence, true, 5000);
    CHECK(silence_due(&silence) == 5100);
}

static void who_cannot_answer_is_not_asked(void) {
    struct silence old = {.limit_ns = 400}, patient = {.is_answered = true};
    CHECK(silence_look(&old, true, 1000) == SILENCE_FINE);
    CHECK(silence_look(&old, true, 100000) == SILENCE_FINE);
    CHECK(silence_look(&patient, true, 100000) == SILENCE_FINE);
    CHECK(silence_due(&old) == CLOCK_NEVER && silence_due(&patient) == CLOCK_NEVER);
}

int main(void) {
    nobody_waits();
    who_waits_asks_and_gives_up();
    who_was_stopped_asks_first();
    any_word_is_an_answer();
    who_cannot_answer_is_not_asked();
    return 0;
}
