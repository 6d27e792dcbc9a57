/* Frames from a daemon, over a socket and in pieces, as the interposer reads them (connection.c).
 *
 * The first byte of the input is the size of the pieces. There are four at most, or the system
 * calls would take most of the time. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptor.h"
#include "session/connection.h"
#include "targets.h"

struct seen {
    struct connection *connection;
    unsigned frames;
};

/* Like the interposer's own handler: takes the fields of a frame that has passed the check. */
static int look(void *argument, const struct frame_view *frame) {
    struct seen *seen = argument;
    uint8_t copy[FRAME_MAX];
    FUZZ_PROMISE(frame->length <= FRAME_MAX_PAYLOAD);
    FUZZ_PROMISE(frame_check(frame) == 0);
    FUZZ_PROMISE(frame_take(frame, copy, frame->length) == 0);
    /* Fields that a frame of an earlier version lacks read as zero. */
    if (frame_take(frame, copy, frame->length + 1) == 0)
        FUZZ_PROMISE(copy[frame->length] == 0);
    /* A frame that was read can be sent again. */
    FUZZ_PROMISE(frame_build(copy, sizeof copy, (enum frame_type)frame->type, frame->payload,
                             frame->length) > 0);
    if (frame->type == FRAME_QUOTA || frame->type == FRAME_EXTENT)
        FUZZ_PROMISE(connection_take_descriptor(seen->connection) == -1);
    seen->frames++;
    return 0;
}

/* From a block of exactly their size, so that a sanitizer sees the first byte too many. */
static void parse(const uint8_t *data, size_t size) {
    char *bytes = malloc(size);
    FUZZ_PROMISE(bytes);
    memcpy(bytes, data, size);
    struct frame_view frame;
    size_t start = 0;
    ssize_t length;
    while ((length = frame_parse(bytes + start, size - start, &frame)) > 0) {
        start += (size_t)length;
        FUZZ_PROMISE(start <= size);
        frame_check(&frame);
    }
    free(bytes);
}

static int receive(struct connection *connection, const uint8_t *data, size_t size, size_t piece,
                   int sender) {
    struct seen seen = {connection, 0};
    int result = 0;
    for (size_t sent = 0; result == 0 && sent < size; sent += piece) {
        size_t now = size - sent < piece ? size - sent : piece;
        FUZZ_PROMISE(send(sender, data + sent, now, MSG_DONTWAIT) == (ssize_t)now);
        result = connection_receive(connection, look, &seen);
        FUZZ_PROMISE(connection->filled < sizeof connection->input);
    }
    FUZZ_PROMISE(seen.frames <= size / sizeof(struct frame_header));
    return result;
}

void fuzz_frames(const uint8_t *data, size_t size) {
    int ends[2];
    struct connection *connection = malloc(sizeof *connection);
    if (size > 1 && size < 65536 && connection && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0) {
        parse(data + 1, size - 1);
        connection_init(connection);
        connection->socket = descriptor_keep(ends[0]);
        size_t piece = size / 4 + 1 + 16 * (size_t)data[0];
        FUZZ_PROMISE(receive(connection, data + 1, size - 1, piece, ends[1]) <= 0);
        connection_close(connection);
        close(ends[1]);
    }
    free(connection);
}
