/* The driver below us: pointers to its own functions, and how they are found.
 *
 * Everything in this library calls the driver through `real`, and never by name: the names lead
 * back to our wrappers. */
#ifndef NVSHARE_DRIVER_H
#define NVSHARE_DRIVER_H

#include <cuda.h>
#include <nvml.h>

#include <stdbool.h>

#define COLD __attribute__((cold, noinline))

/* For functions that the program uses and that the vendor's headers do not declare as visible. */
#define EXPORTED __attribute__((visibility("default")))

struct driver_calls {
#define HOOK(library, kind, name) __typeof__(name) *name;
#include "hooks.inc"
#undef HOOK
};

/* A function that the driver does not have, or that was not found yet, answers CUDA_ERROR_NOT_FOUND
 * (NVML_ERROR_FUNCTION_NOT_FOUND), so that no pointer here is ever NULL. */
extern struct driver_calls real;

/* Checks whether the driver's libraries have come into the process, and takes them over: fills
 * `real`, and leads every later lookup of a hooked name to our wrapper. Cheap while nothing has
 * changed. May be called from anywhere, by several threads at once, also while a library is being
 * loaded. */
void driver_look(void);

/* Whether the driver is in the process. */
bool driver_is_here(void);

/* For hand-written wrappers, before they use `real`: a library's constructor may run before
 * ours. */
static inline void driver_need(void) {
    if (__builtin_expect(!driver_is_here(), 0))
        driver_look();
}

#endif
