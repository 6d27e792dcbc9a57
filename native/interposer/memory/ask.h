/* Questions to the daemon whether memory may be allocated, and for room for a context. A thread asks, and waits for
 * the answer; the session passes both on. One question of either sort at a time for each device: what a second thread
 * allocates meanwhile may be in the first one's question already. Plain C, without sockets. */
#ifndef NVSHARE_ASK_H
#define NVSHARE_ASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ledger.h"

enum ask_state {
    ASK_NOBODY,   /* asks */
    ASK_PUT,      /* a thread has asked; the session has not heard of it */
    ASK_SENT,     /* the daemon has not answered */
    ASK_ANSWERED, /* the thread has not heard of it */
};

enum ask_result {
    ASK_YES,
    ASK_NO,
    ASK_TOO_LARGE, /* no, because all of it would have to be on the GPU at once */
    ASK_NOT_NOW,   /* no context, as long as others are there who could not come back beside it */
    ASK_SILENCE,   /* no answer in good time, or no daemon: the program goes on */
};

struct ask {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum ask_state state;
    enum ask_result result;
    uint64_t ticket;
    uint64_t bytes;        /* in use when the question was sent */
    bool can_move;         /* the memory in question */
    void (*knock)(void *); /* called when a question is put */
    void *knock_argument;
};

void ask_init(struct ask *ask, void (*knock)(void *), void *argument);

/* Whether so much more is in use than the daemon has agreed to that it is to be asked. */
bool ask_is_needed(const struct account *account);

/* For the thread that allocates, after it has reserved the memory: asks if that is needed, and waits, at
 * most so long. */
enum ask_result ask_daemon(struct ask *ask, const struct account *account, bool can_move,
                           uint64_t patience_ns);

/* For the thread that makes a context which the driver has no room for: asks, and waits, at most so long. */
enum ask_result ask_for_context(struct ask *ask, uint64_t patience_ns);

/* For the session. Takes a question to be sent; `bytes` are those in use by now. */
bool ask_take(struct ask *ask, uint64_t bytes, uint64_t *ticket);

/* An answer has come. Whether a thread waits for it still, and if the memory can be moved. What the daemon agrees to is
 * noted in the account, if there is one. */
bool ask_is_open(struct ask *ask, uint64_t ticket, bool *can_move);
void ask_answer(struct ask *ask, struct account *account, enum ask_result result);

/* There is nobody who could answer. */
void ask_give_up(struct ask *ask);

#endif
