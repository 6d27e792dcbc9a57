/* Whether a GPU still has work of this process. Never waits; called by the session's thread
 * only. */
#ifndef NVSHARE_DRAIN_H
#define NVSHARE_DRAIN_H

#include <stdbool.h>

struct device;

enum drain_mark {
    DRAIN_UNKNOWN, /* a stream is being captured, so this cannot be told */
    DRAIN_BUSY,    /* there is work and no mark: later work might have to wait for the mark */
    DRAIN_MARKED,
};

/* Marks, in every context on the device, the work that has been submitted so far. */
enum drain_mark drain_mark(struct device *device);

/* Whether everything up to the mark, and everything in streams that the program made, is done. */
bool drain_is_done(struct device *device);

/* Whether a call waits at the gate that would not have to wait for the work in flight. */
bool drain_could_go_on(struct device *device);

/* Notes some of what is in flight, and returns whether there is any; whether that is done. */
bool drain_note_old(struct device *device);
bool drain_old_is_done(struct device *device);

#endif
