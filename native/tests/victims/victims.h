/* A victim per hook: it calls a function with arguments of its own, and checks what arrived. */
#ifndef VICTIMS_VICTIMS_H
#define VICTIMS_VICTIMS_H

#include <cuda.h>
#include <nvml.h>

#include "notes.h"

struct victim {
    const char *name;
    int (*call)(void *function);
};

struct linked {
    const char *name;
    void *function;
};

/* How cuGetProcAddress is asked for a symbol. */
struct lookup {
    const char *name;
    int version, per_thread;
    const char *symbol;
};

extern const struct victim victims[];
extern const struct linked linked[];
extern const struct lookup lookups[];

void expect_begin(const char *name);
extern struct note expected;
int check(const char *name, int result, int wanted);

/* An argument that does not occur otherwise. Pointers lead to a page of zeros, since some wrappers
 * follow them. */
extern char victim_page[64][256];
#define FILL(argument, index)                                                                      \
    do {                                                                                           \
        memset(&argument, 0, sizeof argument);                                                     \
        void *page_ = victim_page[index];                                                          \
        int number_ = 0x11 * ((index) + 1);                                                        \
        if (IS_POINTER(argument))                                                                  \
            memcpy(&argument, &page_,                                                              \
                   sizeof argument < sizeof page_ ? sizeof argument : sizeof page_);               \
        else                                                                                       \
            memcpy(&argument, &number_,                                                            \
                   sizeof argument < sizeof number_ ? sizeof argument : sizeof number_);           \
    } while (0)
#define IS_POINTER(argument) (__builtin_classify_type(argument) == 5)
#define NOTE(argument)       note_bytes(&expected, &argument, sizeof argument)

/* Looks up every function in one way, calls it, and prints errors and the number of calls. */
int victims_run(const char *loader, void *(*find)(const struct victim *victim));

#endif
