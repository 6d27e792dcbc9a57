#include "connection.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "descriptor.h"
#include "place.h"
#include "process/config.h"

/* A daemon that never stops sending must not keep this thread from everything else. */
enum { READS_MAX = 32 };

void connection_init(struct connection *connection) {
    connection->socket = -1;
    connection->filled = 0;
    connection->descriptor_count = 0;
}

static int connect_to(const struct sockaddr_un *address, enum trust *verdict) {
    struct place place;
    int result = place_look(&place, address->sun_path);
    if (result < 0)
        return result;
    *verdict = trust_place(&place.in, place.folder, place.socket);
    if (*verdict != TRUST_YES)
        return -EPERM;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    result = connect(fd, (const struct sockaddr *)address, sizeof *address) < 0 ? -errno : 0;
    /* The files may have been replaced since they were looked at; the listening process cannot
     * be. */
    if (result == 0)
        result = place_judge_peer(&place, fd, verdict);
    if (result < 0) {
        close(fd);
        return result;
    }
    int kept = descriptor_keep(fd);
    return kept < 0 ? -EMFILE : kept;
}

int connection_connect(struct connection *connection, const char **why) {
    int result = -ENOENT;
    for (int i = 0; i < config()->socket_count; i++) {
        enum trust verdict = TRUST_YES;
        int before = result;
        result = connect_to(&config()->sockets[i], &verdict);
        if (result >= 0) {
            connection_init(connection);
            connection->socket = result;
            return 0;
        }
        *why = verdict != TRUST_YES ? trust_text(verdict) : *why;
        if (result == -EAGAIN)
            break;
        /* An untrusted daemon is worth more to report than a missing one. */
        if (before == -EPERM)
            result = before;
    }
    if (result != -EPERM || !*why)
        *why = strerror(-result);
    return result;
}

void connection_close(struct connection *connection) {
    descriptor_close(connection->socket);
    for (unsigned i = 0; i < connection->descriptor_count; i++)
        descriptor_close(connection->descriptors[i]);
    connection_init(connection);
}

bool connection_is_lost(const struct connection *connection) {
    return connection->socket >= 0 && !descriptor_is_kept(connection->socket);
}

/* Frames are few and short. A daemon that does not even read these is as good as gone. */
int connection_send(struct connection *connection, enum frame_type type, const void *fields,
                    size_t size) {
    return connection_send_with(connection, type, fields, size, -1);
}

int connection_send_with(struct connection *connection, enum frame_type type, const void *fields,
                         size_t size, int descriptor) {
    uint8_t bytes[sizeof(struct frame_header) + 256];
    ssize_t length = frame_build(bytes, sizeof bytes, type, fields, size);
    if (length < 0)
        return (int)length;
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof descriptor)];
    } rights = {.header = {.cmsg_len = CMSG_LEN(sizeof descriptor),
                           .cmsg_level = SOL_SOCKET,
                           .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&rights.header), &descriptor, sizeof descriptor);
    struct iovec content = {bytes, (size_t)length};
    struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = &rights;
        message.msg_controllen = sizeof rights;
    }
    if (connection_is_lost(connection))
        return -EBADF;
    ssize_t sent = sendmsg(connection->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent == length ? 0 : sent < 0 ? -errno : -EPIPE;
}

static void keep_descriptors(struct connection *connection, struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(c) + i * sizeof descriptor, sizeof descriptor);
            if (connection->descriptor_count < CONNECTION_DESCRIPTORS_MAX)
                connection->descriptors[connection->descriptor_count++] =
                    descriptor_keep(descriptor);
            else
                close(descriptor);
        }
    }
}

/* Returns the bytes read, 0 if there are none now, or a negative errno. */
static ssize_t read_some(struct connection *connection) {
    char control[CMSG_SPACE(CONNECTION_DESCRIPTORS_MAX * sizeof(int))];
    struct iovec room = {connection->input + connection->filled,
                         sizeof connection->input - connection->filled};
    struct msghdr message = {.msg_iov = &room,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (connection_is_lost(connection))
        return -EBADF;
    ssize_t count = recvmsg(connection->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    if (count == 0)
        return -ECONNRESET;
    keep_descriptors(connection, &message);
    return count;
}

/* Descriptors come with the first byte of their frames, so they are in the order of the frames. */
int connection_take_descriptor(struct connection *connection) {
    if (!connection->descriptor_count)
        return -1;
    int first = connection->descriptors[0];
    connection->descriptor_count--;
    memmove(connection->descriptors, connection->descriptors + 1,
            connection->descriptor_count * sizeof connection->descriptors[0]);
    return first;
}

static int handle_input(struct connection *connection, connection_handler handler, void *argument) {
    size_t start = 0;
    for (;;) {
        struct frame_view frame;
        ssize_t length = frame_parse(connection->input + start, connection->filled - start, &frame);
        if (length < 0)
            return (int)length;
        if (length == 0)
            break;
        int result = frame_check(&frame);
        if (result == 0)
            result = handler(argument, &frame);
        if (result < 0 || connection->socket < 0)
            return result;
        start += (size_t)length;
    }
    connection->filled -= start;
    memmove(connection->input, connection->input + start, connection->filled);
    return 0;
}

int connection_receive(struct connection *connection, connection_handler handler, void *argument) {
    int result = 0;
    for (int i = 0; i < READS_MAX && result == 0 && connection->socket >= 0; i++) {
        ssize_t count = read_some(connection);
        if (count <= 0)
            return (int)count;
        connection->filled += (size_t)count;
        result = handle_input(connection, handler, argument);
    }
    return result;
}
