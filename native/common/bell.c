#include "bell.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descriptor.h"

void bell_init(struct bell *bell) {
    atomic_store(&bell->rung, -1);
    bell->heard = -1;
}

bool bell_is_there(const struct bell *bell) {
    return descriptor_is_kept(atomic_load(&bell->rung)) && descriptor_is_kept(bell->heard);
}

int bell_need(struct bell *bell) {
    int ends[2];
    if (bell_is_there(bell))
        return 0;
    bell_close(bell);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return -errno;
    bell->heard = descriptor_keep(ends[0]);
    atomic_store(&bell->rung, descriptor_keep(ends[1]));
    return bell->heard < 0 || atomic_load(&bell->rung) < 0 ? -EMFILE : 0;
}

void bell_ring(const struct bell *bell) {
    const char one = 1;
    int before = errno, rung = atomic_load(&bell->rung);
    if (descriptor_is_kept(rung)) {
        /* Not send(), where a thread can be cancelled: it may have a lock. */
        long sent = syscall(SYS_sendto, rung, &one, 1, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
        (void)sent; /* full means that it has been rung */
    }
    errno = before;
}

void bell_silence(const struct bell *bell) {
    char rings[64];
    int before = errno;
    while (descriptor_is_kept(bell->heard) &&
           recv(bell->heard, rings, sizeof rings, MSG_DONTWAIT) == sizeof rings)
        continue;
    errno = before;
}

void bell_close(struct bell *bell) {
    descriptor_close(atomic_exchange(&bell->rung, -1));
    descriptor_close(bell->heard);
    bell->heard = -1;
}
