#include "silence.h"

#include "process/clock.h"

/* This many questions fit into the limit, so that a short stall does not count as a dead daemon. */
enum { QUESTIONS = 3 };

static uint64_t next(const struct silence *silence) {
    return silence->since + silence->limit_ns / (QUESTIONS + 1) * (silence->asked + 1);
}

void silence_heard(struct silence *silence, uint64_t now) {
    silence->since = now;
    silence->asked = 0;
}

enum silence_advice silence_look(struct silence *silence, bool is_waiting, uint64_t now) {
    bool began = is_waiting && !silence->is_waiting;
    silence->is_waiting = is_waiting;
    if (began)
        silence_heard(silence, now);
    if (now < silence_due(silence))
        return SILENCE_FINE;
    return silence->asked++ < QUESTIONS ? SILENCE_ASK : SILENCE_GONE;
}

uint64_t silence_due(const struct silence *silence) {
    bool is_watched = silence->is_waiting && silence->is_answered && silence->limit_ns;
    return is_watched ? next(silence) : CLOCK_NEVER;
}
