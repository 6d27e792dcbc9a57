/* Bytes to frames and back. No I/O: the caller has the socket.
 *
 * Functions return a count or 0, or a negative errno; outputs are untouched on failure. */
#ifndef NVSHARE_FRAME_H
#define NVSHARE_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "frames.h"

/* Room for any frame. */
#define FRAME_MAX (sizeof(struct frame_header) + FRAME_MAX_PAYLOAD)

/* A frame that lies in the caller's buffer. */
struct frame_view {
    uint16_t type; /* enum frame_type, or a number that is not known yet: skip it */
    const void *payload;
    size_t length;
};

/* Writes header and payload to a buffer. Returns the bytes written, or -ENOBUFS if there is no
 * room, or -EMSGSIZE if no frame is that long. */
ssize_t frame_build(void *buffer, size_t room, enum frame_type type, const void *payload,
                    size_t length);

/* Looks at the first frame of some bytes. Returns the bytes that it takes up, or 0 if more have to
 * arrive first, or
 *     -EPROTO           these are no frames
 *     -EPROTONOSUPPORT  frames of another version
 *     -EMSGSIZE         longer than any frame may be
 * after which the connection is of no use. */
ssize_t frame_parse(const void *bytes, size_t size, struct frame_view *view);

/* The version of the protocol in which a type of frame got its meaning. */
uint16_t frame_version(uint16_t type);

/* The least payload of a type of frame: earlier senders lack the optional fields at its end. `size`
 * is the payload with all of them. */
size_t frame_least(uint16_t type, size_t size);

/* Copies the fields of a frame. Later fields behind them are left out, and fields that an earlier
 * sender does not have are 0. Returns 0, or -EBADMSG if there are fewer bytes than that. */
int frame_take(const struct frame_view *view, void *fields, size_t size);

/* Whether every field is what protocol/frames.toml allows. Returns 0, also for unknown types, or
 *     -EBADMSG  there are fewer bytes than fields
 *     -ERANGE   a number is out of its range, or an enumerator does not exist */
int frame_check(const struct frame_view *view);

/* Fills a text field: cut to its size, ended with a zero, filled up with zeros. */
void frame_set_text(char *field, size_t size, const char *text);

#endif
