/* The one thread that talks to the daemon, for every GPU in use. It starts with the first use of a
 * GPU; a program that uses none has none. */
#ifndef NVSHARE_SESSION_H
#define NVSHARE_SESSION_H

struct device;

/* Registers a device that is used for the first time. */
void session_add(struct device *device);

/* A thread waits at the device's gate. Takes the device as void *, being a gate's callback. */
void session_knock(void *device);

/* The program's memory has changed. Costs nothing if the daemon is to be told anyway. */
void session_memory_changed(struct device *device);

/* The program uses the GPU. Costs nothing if the session knows it already. */
void session_usage_changes(struct device *device);

/* The program was refused memory. Costs nothing if the daemon is to be told anyway. */
void session_has_refused(struct device *device);

/* In a child after fork: there is no thread, and the connections are the parent's. */
void session_forget(void);

#endif
