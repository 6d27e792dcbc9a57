/* Requests to the daemon: whether memory may be allocated, and for room for a context. A thread
 * asks, and waits for the answer; the session passes both on. There is one request of either kind
 * per device: memory that a second thread allocates meanwhile may be part of the first request
 * already. Plain C, without sockets. */
#ifndef NVSHARE_ASK_H
#define NVSHARE_ASK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ledger.h"

enum ask_state {
    ASK_NOBODY,   /* asks */
    ASK_PUT,      /* a thread has asked; the session has not taken it */
    ASK_SENT,     /* the daemon has not answered */
    ASK_ANSWERED, /* the thread has not taken the answer */
};

enum ask_result {
    ASK_YES,
    ASK_NO,
    ASK_TOO_LARGE, /* no, because all of it would have to be on the GPU at once */
    ASK_NOT_NOW,   /* no context while programs are there that could not come back beside it */
    ASK_SILENCE,   /* no answer in time, or no daemon: the program goes on */
};

struct ask {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum ask_state state;
    enum ask_result result;
    uint64_t ticket;
    uint64_t bytes;        /* in use when the request was sent */
    bool can_move;         /* whether the memory asked for can move */
    void (*knock)(void *); /* called when a thread asks */
    void *knock_argument;
};

void ask_init(struct ask *ask, void (*knock)(void *), void *argument);

/* Whether so much more is in use than the daemon has agreed to that it has to be asked. */
bool ask_is_needed(const struct account *account);

/* For a thread that has reserved memory: asks if needed, and waits for `patience_ns` at the
 * most. */
enum ask_result ask_daemon(struct ask *ask, const struct account *account, bool can_move,
                           uint64_t patience_ns);

/* For a thread that makes a context and finds no room: asks, and waits for `patience_ns` at the
 * most. */
enum ask_result ask_for_context(struct ask *ask, uint64_t patience_ns);

/* For the session. Takes a request to be sent; `bytes` are those in use now. */
bool ask_take(struct ask *ask, uint64_t bytes, uint64_t *ticket);

/* For an answer: whether a thread still waits for it, and whether the memory can move. The bytes
 * agreed to are noted in the account, if there is one. */
bool ask_is_open(struct ask *ask, uint64_t ticket, bool *can_move);
void ask_answer(struct ask *ask, struct account *account, enum ask_result result);

/* There is no daemon to answer. */
void ask_give_up(struct ask *ask);

#endif
