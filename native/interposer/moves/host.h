/* Host memory that the daemon makes for what moves explicitly (explicit/extent.h), as frames. For the session's thread. */
#ifndef NVSHARE_HOST_H
#define NVSHARE_HOST_H

#include "frame.h"

struct client;

/* A daemon has welcomed the client: it knows nothing yet of what is held. */
void host_begin(struct client *client);

/* An extent has come. */
void host_take(struct client *client, const struct frame_extent *extent);

/* Tells the daemon what it makes host memory by, if that has changed. Returns 0 or a negative errno. */
int host_tell(struct client *client);

#endif
