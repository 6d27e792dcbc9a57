/* This process on one GPU, as the daemon sees it: registration, turns, reports. Everything here
 * runs on the session's thread; the program's threads meet it only at the gate. */
#ifndef NVSHARE_CLIENT_H
#define NVSHARE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "connection.h"
#include "gate/undrained.h"
#include "machine.h"
#include "moves/swap.h"
#include "process/devices.h"
#include "silence.h"

enum client_state {
    CLIENT_AWAY,     /* no connection: the program runs unmanaged, or has just begun */
    CLIENT_GREETING, /* HELLO is sent */
    CLIENT_WELCOME,  /* registered */
};

/* What the session keeps besides the machine: descriptors, and when to look at something again. */
struct turn {
    int standby;     /* a socket that brings a turn, or -1: none, or the gate has it */
    uint64_t handed; /* the turn that was handed over just now */
    uint64_t ended;  /* when the last turn ended */

    uint64_t idle_ns; /* how long it has to be without work */
    uint64_t quiet_since;
    bool is_marked;   /* the work submitted so far, for drain.h */
    bool fell_short;  /* the gate was to open, or to let a call pass, and could not */
    bool has_stepped; /* it has let a call pass since it closed */
    bool have_left;   /* no call from before the close is on its way through it any more */
    uint64_t closing_since;
    uint64_t tidied;     /* when pools were tidied */
    uint64_t due;        /* when to look again at the work in flight */
    uint64_t retry_due;  /* when to give the mover an order again that it could not carry out */
    uint64_t growth_due; /* when to stop waiting for memory that is being allocated */
    struct undrained undrained;
};

struct client {
    struct device *device;
    struct connection connection;
    enum client_state state;
    uint64_t due; /* the next attempt, or the end of the greeting */
    uint64_t backoff;
    uint64_t patience;    /* until when to wait for a daemon that is too busy to answer */
    uint64_t waits_until; /* without a turn, for the next daemon; 0: there was none yet */
    uint64_t report_due;
    uint64_t usage_pause; /* between two reports of usage */
    uint64_t usage_due; /* when to look at the usage; CLOCK_NEVER: the program has nothing to do */
    bool usage_was_new; /* at the last look */
    struct usage_totals told;
    struct frame_refused refused_before; /* HELLO */
    uint64_t refused_due;
    uint32_t told_kind; /* how memory is allocated, as the daemon was told */
    struct frame_pinned told_pinned;
    struct extents_report told_host;
    uint64_t idle_grace_ns;
    struct silence silence;
    struct machine machine;
    struct turn turn;
    struct swap swap;
    struct client *next;
};

void client_init(struct client *client, struct device *device, uint64_t now);

/* Does what is due. Returns when it has to be called again at the latest. */
uint64_t client_step(struct client *client, uint64_t now);

/* The socket is readable; or the standby is, or the gate has opened by it. */
void client_receive(struct client *client, uint64_t now);
void client_standby_ready(struct client *client, uint64_t now);

/* Sends HELLO, with what the machine says. Returns 0 or a negative errno. */
int client_say_hello(struct client *client, const struct machine_action *hello);

/* report.c: reports changes, if it is time to. Return 0 or a negative errno. */
int client_report_memory(struct client *client, uint64_t now);
int client_report_usage(struct client *client, uint64_t now);
/* How often usage is reported, in milliseconds; 0: as usual. */
void client_set_usage_pause(struct client *client, uint64_t ms);
int client_report_refusals(struct client *client, uint64_t now);

/* With HELLO: a new daemon is told only of later refusals. */
void client_forget_refusals(struct client *client);

/* The program ends: reports what would be lost otherwise. Programs often end at once when they are
 * refused memory. */
void client_say_last(struct client *client);

/* In a child after fork: gives up the parent's descriptors. */
void client_forget(struct client *client);

/* perform.c: gives the machine an input, and does what it says. This and all that follows returns 0
 * or a negative errno, as sending does. */
int turn_feed(struct client *client, struct machine_input input);

/* turn.c. A frame; a turn that another program hands over; memory that has no room yet; the loss of
 * the daemon. */
void turn_init(struct turn *turn);
int turn_handle(struct client *client, const struct frame_view *frame);
int turn_is_handed(struct client *client);

/* The program that was to hand its turn over is gone: the turn comes with GRANT. */
void turn_lose_standby(struct client *client);
int turn_grows(struct client *client, uint64_t missing);
void turn_lose(struct client *client, bool refuses, bool may_wait);

/* Before that: a turn that was handed over while the daemon was there has begun. */
void turn_take_handed(struct client *client);

/* Looks at the gate and the work in flight (turn_work.c), and at memory that moves; and when to
 * look again. */
int turn_step(struct client *client, uint64_t now);
int turn_look_at_memory(struct client *client, uint64_t now);
uint64_t turn_due(const struct client *client);

/* Whether explicit memory cannot leave yet, because the turn has ended although work may be in
 * flight; to find out whether that is over; and to set that it is, or may not be. */
bool turn_is_unsure(const struct client *client);
void turn_look_at_quiet(struct client *client, uint64_t now);
void turn_set_quiet(struct client *client, bool is_quiet);

/* Bytes on the GPU that can leave it now; and bytes that cannot, as reported to the daemon. */
uint64_t turn_there(const struct client *client);
uint64_t turn_pinned(const struct client *client);

/* For perform.c: work may be in flight from now on. And: from now on, look whether the program is
 * idle, or has nothing in flight. */
void turn_has_opened(struct client *client);
void turn_watch(struct client *client, uint64_t idle_ns);
void turn_drain(struct client *client);

#endif
