/* What the environment says. The only place in this library that reads it. */
#ifndef NVSHARE_CONFIG_H
#define NVSHARE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "limits.h"

enum { CONFIG_SOCKETS_MAX = 2 };

/* How what a program asks for by cuMemAlloc is to be allocated, by its environment. Others may have a say in it:
 * device_decide. */
enum allocation {
    ALLOCATION_OPEN,     /* nothing is said */
    ALLOCATION_MANAGED,  /* as managed memory, which can be moved */
    ALLOCATION_EXPLICIT, /* as physical memory that nvshare moves itself */
    ALLOCATION_NATIVE,   /* as the program asks */
    ALLOCATION_AUTO,     /* as the daemon thinks best */
};

struct config {
    bool disable; /* pass every call through, and nothing else */
    bool require; /* without a daemon, refuse work instead of running unmanaged */
    enum allocation allocation;
    bool oversubscribe;   /* one program may allocate more than its GPU has */
    struct limits limits; /* if one of them is wrong, the GPU is not used at all */
    bool is_limit_of_run; /* which nvshare run was given on its command line */
    bool is_patient;      /* nothing is to be said of a long wait */
    uint64_t silence_ns;  /* that a daemon may keep while somebody waits for it; 0: any */
    uint8_t group[16];
    bool names_daemon; /* as somebody who is neither root nor the program's user */
    uint32_t daemon_user;
    struct sockaddr_un sockets[CONFIG_SOCKETS_MAX]; /* where a daemon may listen, in this order */
    int socket_count;
};

/* Reads the environment at the first call. A value that makes no sense is a warning, and as if unset; but a
 * program that was meant to be limited does not run without a limit. */
const struct config *config(void);

#endif
