/* Host memory that the daemon makes for explicit memory (explicit/extent.h), as frames. For the
 * session's thread. */
#ifndef NVSHARE_HOST_H
#define NVSHARE_HOST_H

#include "frame.h"

struct client;

/* A daemon has welcomed the client: it does not know yet what the client has. */
void host_begin(struct client *client);

/* An extent has come. */
void host_take(struct client *client, const struct frame_extent *extent);

/* Tells the daemon how much host memory is needed, if that has changed. Returns 0 or a negative
 * errno. */
int host_tell(struct client *client);

#endif
