/* A driver that only records its calls. */
#ifndef VICTIMS_RECORDER_H
#define VICTIMS_RECORDER_H

#include <cuda.h>
#include <nvml.h>

#include "notes.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Each of the two libraries has its own, in recorder.c. */
void record_begin(const char *name);
extern struct note *recorder_now;

/* The functions that cuGetProcAddress offers. */
struct recorder_entry {
    const char *name;
    int version, per_thread;
    void *function;
};
extern const struct recorder_entry recorder_entries[];

#define NOTE(argument) note_bytes(recorder_now, &argument, sizeof argument)

#endif
