/* A daemon that is there and sends nothing: it was stopped, or hangs. While a thread waits at the
 * gate, the client asks now and then whether the daemon still answers (PING). Without an answer for
 * long enough, the program goes on as if the daemon had died. While no thread waits, nothing is
 * sent. Plain C: it knows only times. */
#ifndef NVSHARE_SILENCE_H
#define NVSHARE_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct silence {
    uint64_t limit_ns; /* 0: no limit */
    bool is_answered;  /* this daemon answers PING */
    bool is_waiting;
    uint64_t since; /* when the daemon was last heard, or the wait began */
    uint64_t asked; /* how often it was asked since */
};

enum silence_advice {
    SILENCE_FINE,
    SILENCE_ASK,  /* send PING */
    SILENCE_GONE, /* it does not answer */
};

/* Something has come from the daemon. */
void silence_heard(struct silence *silence, uint64_t now);

/* What to do now, given whether a thread waits; and when to look again. */
enum silence_advice silence_look(struct silence *silence, bool is_waiting, uint64_t now);
uint64_t silence_due(const struct silence *silence);

#endif
