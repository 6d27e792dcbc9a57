/* The settings from the environment. Nothing else in this library reads it. */
#ifndef NVSHARE_CONFIG_H
#define NVSHARE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "limits.h"

enum { CONFIG_SOCKETS_MAX = 2 };

/* How the program's environment wants cuMemAlloc to allocate. It does not decide alone: see
 * device_decide. */
enum allocation {
    ALLOCATION_OPEN,     /* not set */
    ALLOCATION_MANAGED,  /* managed memory, which can be moved */
    ALLOCATION_EXPLICIT, /* physical memory that nvshare moves itself */
    ALLOCATION_NATIVE,   /* as the program asks */
    ALLOCATION_AUTO,     /* as the daemon decides */
};

struct config {
    bool disable; /* pass every call through, and nothing else */
    bool require; /* without a daemon, refuse work instead of running unmanaged */
    enum allocation allocation;
    bool oversubscribe;   /* a program may allocate more than its GPU has */
    struct limits limits; /* if one of them is wrong, the GPU is not used at all */
    bool is_limit_of_run; /* the memory limit is from the command line of nvshare run */
    bool is_patient;      /* long waits are not reported */
    uint64_t silence_ns;  /* how long a daemon may be silent while a thread waits; 0: any time */
    uint64_t restart_ns;  /* how long a program without a turn waits for the next daemon */
    uint8_t group[16];
    bool names_daemon; /* NVSHARE_DAEMON_UID is set */
    uint32_t daemon_user;
    struct sockaddr_un sockets[CONFIG_SOCKETS_MAX]; /* where a daemon may listen, in this order */
    int socket_count;
};

/* Reads the environment at the first call. A value that makes no sense gives a warning, and counts
 * as unset; but a program that was meant to be limited does not run without a limit. */
const struct config *config(void);

#endif
