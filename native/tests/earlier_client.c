/* Preloaded before libnvshare.so, makes it talk like an earlier version: its frames end where they
 * ended then. EARLIER_SIZES has the bytes of payload by the number of the frame, as in
 * "1:128,3:64"; other frames pass unchanged.
 *
 * Frames from the daemon pass unchanged, as they did then. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "frames.h"

static size_t earlier_size(unsigned type, size_t size) {
    const char *rest = getenv("EARLIER_SIZES");
    while (rest && *rest) {
        char *end;
        unsigned long found = strtoul(rest, &end, 10);
        unsigned long length = strtoul(end + 1, &end, 10);
        if (found == type && length < size)
            return length;
        rest = *end ? end + 1 : end;
    }
    return size;
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags) {
    ssize_t (*real)(int, const struct msghdr *, int) =
        (ssize_t (*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
    struct frame_header header;
    if (message->msg_iovlen != 1 || message->msg_iov[0].iov_len < sizeof header)
        return real(socket, message, flags);
    size_t whole = message->msg_iov[0].iov_len;
    memcpy(&header, message->msg_iov[0].iov_base, sizeof header);
    if (header.magic != FRAME_MAGIC || whole != sizeof header + header.length)
        return real(socket, message, flags);
    header.length = (uint32_t)earlier_size(header.type, header.length);
    uint8_t bytes[sizeof header + FRAME_MAX_PAYLOAD];
    memcpy(bytes, message->msg_iov[0].iov_base, whole);
    memcpy(bytes, &header, sizeof header);
    struct iovec content = {bytes, sizeof header + header.length};
    struct msghdr shorter = *message;
    shorter.msg_iov = &content;
    ssize_t sent = real(socket, &shorter, flags);
    return sent == (ssize_t)content.iov_len ? (ssize_t)whole : sent;
}
