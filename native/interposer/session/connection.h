/* One connection to the daemon: bytes out, frames in. Knows what a frame is, but not what it
 * means. */
#ifndef NVSHARE_CONNECTION_H
#define NVSHARE_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frame.h"

enum { CONNECTION_DESCRIPTORS_MAX = 8 };

struct connection {
    int socket; /* -1: not connected */
    size_t filled;
    int descriptors
        [CONNECTION_DESCRIPTORS_MAX]; /* that have come, and whose frames are not handled yet */
    unsigned descriptor_count;
    uint8_t input[2 * FRAME_MAX];
};

typedef int (*connection_handler)(void *argument, const struct frame_view *frame);

void connection_init(struct connection *connection);

/* Connects to the first socket of the configuration that answers and belongs to a trusted daemon
 * (trust.h). Returns 0, -EAGAIN if the daemon has too many callers at the moment, or another
 * negative errno if there is none; then `why` is a text for people. */
int connection_connect(struct connection *connection, const char **why);

void connection_close(struct connection *connection);

/* Whether the program has closed its socket, as it may. Sending and receiving say -EBADF then. */
bool connection_is_lost(const struct connection *connection);

/* Sends a frame, or fails at once. */
int connection_send(struct connection *connection, enum frame_type type, const void *fields,
                    size_t size);

/* The same with a descriptor, which stays the caller's; -1: none. */
int connection_send_with(struct connection *connection, enum frame_type type, const void *fields,
                         size_t size, int descriptor);

/* Reads what has come, and hands every whole frame to the handler. Returns 0, or a negative errno
 * after which the connection is useless: the peer is gone, sends no frames or impossible values
 * (frame_check), or the handler has refused one. The handler may close the connection. More may be
 * left to read. */
int connection_receive(struct connection *connection, connection_handler handler, void *argument);

/* The descriptor that belongs to the frame being handled, or -1. The caller closes it
 * (descriptor_close). */
int connection_take_descriptor(struct connection *connection);

#endif
