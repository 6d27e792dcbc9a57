#include "frame.h"

#include <errno.h>
#include <string.h>

ssize_t frame_build(void *buffer, size_t room, enum frame_type type, const void *payload,
                    size_t length) {
    if (length > FRAME_MAX_PAYLOAD)
        return -EMSGSIZE;
    struct frame_header header = {
        .magic = FRAME_MAGIC,
        .version = frame_version((uint16_t)type),
        .type = (uint16_t)type,
        .length = (uint32_t)length,
    };
    if (room < sizeof header + length)
        return -ENOBUFS;
    memcpy(buffer, &header, sizeof header);
    memcpy((char *)buffer + sizeof header, payload, length);
    return (ssize_t)(sizeof header + length);
}

ssize_t frame_parse(const void *bytes, size_t size, struct frame_view *view) {
    struct frame_header header;
    if (size < sizeof header)
        return 0;
    memcpy(&header, bytes, sizeof header);
    if (header.magic != FRAME_MAGIC)
        return -EPROTO;
    if (header.version < FRAME_OLDEST_VERSION || header.version > FRAME_VERSION)
        return -EPROTONOSUPPORT;
    if (header.length > FRAME_MAX_PAYLOAD)
        return -EMSGSIZE;
    if (size - sizeof header < header.length)
        return 0;
    view->type = header.type;
    view->payload = (const char *)bytes + sizeof header;
    view->length = header.length;
    return (ssize_t)(sizeof header + header.length);
}

int frame_take(const struct frame_view *view, void *fields, size_t size) {
    if (view->length < frame_least(view->type, size))
        return -EBADMSG;
    size_t known = view->length < size ? view->length : size;
    memcpy(fields, view->payload, known);
    memset((char *)fields + known, 0, size - known);
    return 0;
}

void frame_set_text(char *field, size_t size, const char *text) {
    size_t length = strnlen(text, size - 1);
    memcpy(field, text, length);
    memset(field + length, 0, size - length);
}
