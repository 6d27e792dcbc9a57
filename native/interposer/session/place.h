/* What the kernel knows of the place where a daemon listens: trust.h judges by it. */
#ifndef NVSHARE_PLACE_H
#define NVSHARE_PLACE_H

#include "trust.h"

struct place {
    struct trust_in in; /* whom this program trusts there */
    struct trust_file folder, socket;
};

/* Looks at a socket and its folder, and follows no link. Returns 0 or a negative errno. */
int place_look(struct place *place, const char *path);

/* Judges the process that listens on a connected socket. Returns 0 or a negative errno: -EPERM with
 * a verdict. */
int place_judge_peer(const struct place *place, int socket, enum trust *verdict);

#endif
