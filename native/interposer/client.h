/* This process on one GPU, as the daemon sees it: registration, turns, reports. Everything here is done
 * by the session's thread; the program's threads meet it at the gate only. */
#ifndef NVSHARE_CLIENT_H
#define NVSHARE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "connection.h"
#include "devices.h"
#include "swap.h"

enum client_state {
    CLIENT_AWAY,     /* no connection: the program runs unmanaged, or has only begun */
    CLIENT_GREETING, /* HELLO is sent */
    CLIENT_WELCOME,  /* registered */
};

/* The permission to run, and what becomes of it. */
struct turn {
    uint64_t number; /* of the turn it holds, or held last; 0: none */
    bool is_held;    /* the gate is open, or about to close */
    bool is_wanted;  /* the daemon knows that somebody waits */

    enum urgency asked; /* how it was asked to give the turn up; 0: not at all */
    uint64_t idle_ns;   /* how long it has to be without work */
    uint64_t quiet_since;
    bool is_marked; /* the work submitted so far, for drain.h */
    bool is_closing;
    uint64_t closing_since;
    uint64_t due;         /* when to look again */
    uint64_t evict_bytes; /* to move to the host as it ends */
    bool is_displaced;    /* or to leave to the successor */

    int pass; /* an eventfd to write to at the end, or -1 */
    uint64_t pass_turn;
    int standby; /* an eventfd that brings a turn, or -1: none, or the gate has it */
    uint64_t standby_turn;
    uint64_t standby_fill_bytes, standby_missing;
};

struct client {
    struct device *device;
    struct connection connection;
    enum client_state state;
    bool was_welcome; /* at some time */
    uint64_t due;     /* the next attempt, or the end of the greeting */
    uint64_t backoff;
    uint64_t patience; /* how long a daemon that is too busy to answer is waited for */
    uint64_t report_due;
    uint64_t usage_due; /* when to look at the usage; CLOCK_NEVER: the program has nothing to do */
    bool usage_was_new; /* when it was looked at last */
    struct usage_totals told;
    uint64_t idle_grace_ns;
    struct turn turn;
    struct swap swap;
    struct client *next;
};

void client_init(struct client *client, struct device *device, uint64_t now);

/* Does what is to be done by now. Returns when it has to be called again at the latest. */
uint64_t client_step(struct client *client, uint64_t now);

/* The socket, or the standby eventfd, is readable; or the gate has opened by that one. */
void client_receive(struct client *client, uint64_t now);
void client_standby_ready(struct client *client);

/* In a child after fork: gives up the parent's descriptors. */
void client_forget(struct client *client);

/* turn.c */
void turn_init(struct turn *turn);
void turn_begin(struct client *client, uint64_t number, uint64_t fill_bytes, uint64_t missing,
                uint64_t now);
void turn_stops_to_fill(struct client *client);
void turn_is_filled(struct client *client, uint64_t now);
void turn_comes_by_grant(struct client *client);
int turn_handle(struct client *client, const struct frame_view *frame, uint64_t now);
int turn_step(struct client *client, uint64_t now);
void turn_lose(struct client *client);

#endif
