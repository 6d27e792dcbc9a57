/* A daemon that is there and says nothing: it was stopped, or hangs. Who waits at the gate waits for its word, and asks now
 * and then whether it still listens (PING); without any answer for long enough, the program goes on as if it had died.
 * Nothing is asked while nobody waits. Plain C: it knows times only. */
#ifndef NVSHARE_SILENCE_H
#define NVSHARE_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct silence {
    uint64_t limit_ns; /* 0: any silence is borne */
    bool is_answered;  /* this daemon answers when it is asked */
    bool is_waiting;
    uint64_t since; /* the daemon has last been heard, or the wait has begun */
    uint64_t asked; /* how often it was asked since */
};

enum silence_advice {
    SILENCE_FINE,
    SILENCE_ASK,  /* send PING */
    SILENCE_GONE, /* it does not answer */
};

/* Something has come from the daemon. */
void silence_heard(struct silence *silence, uint64_t now);

/* What to do by now, if somebody waits or nobody does; and when to look again. */
enum silence_advice silence_look(struct silence *silence, bool is_waiting, uint64_t now);
uint64_t silence_due(const struct silence *silence);

#endif
