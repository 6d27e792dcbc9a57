#include "host.h"

#include "descriptor.h"
#include "session/client.h"
#include "session/session.h"

void host_begin(struct client *client) {
    client->told_host = (struct extents_report){0};
    extents_reconnect(&client->device->explicit.extents);
}

/* The mover locks the extent's pages as soon as it has nothing else to do. */
void host_take(struct client *client, const struct frame_extent *extent) {
    int memory = connection_take_descriptor(&client->connection);
    if (memory < 0)
        return;
    extents_receive(&client->device->explicit.extents, memory, extent->size);
    descriptor_close(memory);
    mover_prepare(&client->device->mover);
    session_memory_changed(client->device);
}

static bool is_same(const struct extents_report *a, const struct extents_report *b) {
    return a->received == b->received && a->held == b->held && a->most == b->most &&
           a->lacking == b->lacking;
}

/* A daemon that makes no host memory is not told. */
int host_tell(struct client *client) {
    struct explicit *explicit = &client->device->explicit;
    uint64_t most = atomic_load(&explicit->regions.movable);
    if (extents_have_spare(&explicit->extents, most))
        mover_prepare(&client->device->mover); /* the program has freed memory */
    if (!atomic_load(&explicit->extents.is_provided))
        return 0;
    struct extents_report report = extents_look(&explicit->extents, most);
    if (is_same(&report, &client->told_host))
        return 0;
    client->told_host = report;
    struct frame_host host = {.received = report.received,
                              .held = report.held,
                              .most = report.most,
                              .lacking = report.lacking};
    return connection_send(&client->connection, FRAME_HOST, &host, sizeof host);
}
