/* Wakes a thread that waits for descriptors. Two ends of a socket, because a program may close
 * either, and other files of its own may get their numbers: that can be told of sockets, and not of
 * an eventfd. While a thread waits for the bell, it wakes up when the other end is closed, too. */
#ifndef NVSHARE_BELL_H
#define NVSHARE_BELL_H

#include <stdbool.h>

struct bell {
    _Atomic int rung; /* -1: there is none */
    int heard;        /* for whom it rings: readable once it has been rung */
};

void bell_init(struct bell *bell);

/* Makes it if there is none, or if the program has closed it. Returns 0 or a negative errno. */
int bell_need(struct bell *bell);

/* Whether the program has closed neither end. */
bool bell_is_there(const struct bell *bell);

/* From any thread. A bell that is not there makes no sound. Leaves errno alone. */
void bell_ring(const struct bell *bell);

/* Until it is rung again. */
void bell_silence(const struct bell *bell);

/* Closes what is left of it. */
void bell_close(struct bell *bell);

#endif
