/* What programs may do to their own process, while they use a GPU. Each habit is a function; main.c
 * has the work on the GPU around it. */
#ifndef NVSHARE_TESTS_HABITS_H
#define NVSHARE_TESTS_HABITS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct habit {
    const char *name;
    void (*act)(void);
};

/* Each ends with one that has no name. */
extern const struct habit of_descriptors[], of_limits[], of_signals[], of_threads[], of_processes[],
    of_memory[];

#define HABIT(function) {#function, function}

/* A round of work in the calling thread, which has the context: a wrong byte ends the program. */
void work(void);

/* For threads that a habit makes: before their work, and after it. */
void use_context(void);
void give_back(void);

/* A note on what the habit has found, which is to be the same everywhere. */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

/* A habit that has failed ends the program. */
#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            perror(#condition);                                                                    \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#endif
