/* Bytes to frames and back. No I/O: whoever has a socket brings the bytes.
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

/* A frame that lies in somebody's buffer. */
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

/* In which version of the protocol a type of frames got its meaning. */
uint16_t frame_version(uint16_t type);

/* Bytes of payload that a type of frames has at least: earlier senders lack the optional fields at
 * its end. `size` is what it has with all of them. */
size_t frame_least(uint16_t type, size_t size);

/* Copies the fields of a frame; what lies behind them is of a later day and is left out, and what an
 * earlier sender does not know is 0. Returns 0, or -EBADMSG if there are fewer bytes than that. */
int frame_take(const struct frame_view *view, void *fields, size_t size);

/* Whether every field is what protocol/frames.toml lets it be. Returns 0, also for types that nobody knows, or
 *     -EBADMSG  there are fewer bytes than fields
 *     -ERANGE   a number is out of its range, or an enumerator does not exist */
int frame_check(const struct frame_view *view);

/* Fills a text field: cut to its size, ended with a zero, filled up with zeros. */
void frame_set_text(char *field, size_t size, const char *text);

#endif
