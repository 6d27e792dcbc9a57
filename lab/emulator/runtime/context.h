/* The device of a thread, and the primary contexts that this process uses. */
#ifndef NVSHARE_RUNTIME_CONTEXT_H
#define NVSHARE_RUNTIME_CONTEXT_H

#include "runtime.h"

/* The primary context of a device, made by the first call and kept until the device is reset.
 * An error of the driver says that there is no such device. */
CUresult context_primary(const struct driver *driver, int device, CUcontext *out);

/* Makes a device the thread's own, with its primary context. */
CUresult context_choose(const struct driver *driver, int device);

/* The device of the thread's current context, or the one that it would get. */
CUresult context_device(const struct driver *driver, int *device);

/* Destroys the primary context of the thread's device; the next call makes another one. */
CUresult context_reset(const struct driver *driver);

#endif
