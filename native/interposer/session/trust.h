/* Which process is trusted to be the daemon. Any user can make a folder in /tmp and a socket in it,
 * and the daemon decides when a program runs and what it may use.
 *
 * The rule, which src/nvshare/launch/trust.py has too (a test compares the two): the folder, the
 * socket in it and the process that listens there belong to root, to the program's own user, or to
 * the user that NVSHARE_DAEMON_UID names; at /run/nvshare, where only root can make a folder, also
 * to the folder's owner. No other user can write to the folder.
 *
 * Plain C: it knows only modes and numbers. */
#ifndef NVSHARE_TRUST_H
#define NVSHARE_TRUST_H

#include <stdbool.h>
#include <stdint.h>

/* The same names and order as in trust.py. */
enum trust {
    TRUST_YES,
    TRUST_NO_FOLDER,
    TRUST_FOLDER_OWNER,
    TRUST_FOLDER_MODE,
    TRUST_NO_SOCKET,
    TRUST_SOCKET_OWNER,
    TRUST_PEER,
};

/* Whom a program trusts. */
struct trust_in {
    uint32_t self;
    bool has_named;
    uint32_t named;
    bool is_machine; /* the place is that of the machine's daemon */
};

/* As lstat returns it. */
struct trust_file {
    uint32_t mode;
    uint32_t owner;
};

/* Before connecting. */
enum trust trust_place(const struct trust_in *in, struct trust_file folder,
                       struct trust_file socket);

/* After connecting: which user listens there, as the kernel says. */
enum trust trust_peer(const struct trust_in *in, struct trust_file folder, uint32_t peer);

/* The reason for a refusal, as a text for people. */
const char *trust_text(enum trust verdict);

#endif
