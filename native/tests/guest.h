/* For programs that use the driver: calls that must succeed, random numbers, and files. An error
 * ends them, with a line that describes it. */
#ifndef NVSHARE_TESTS_GUEST_H
#define NVSHARE_TESTS_GUEST_H

#include <cuda.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* At once, since other threads may be in the middle of something. */
static inline void fail(const char *what, CUresult result) {
    const char *name = "";
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, name ? name : "?");
    _exit(1);
}

#define DO(call)                                                                                   \
    do {                                                                                           \
        CUresult result_ = (call);                                                                 \
        if (result_ != CUDA_SUCCESS)                                                               \
            fail(#call, result_);                                                                  \
    } while (0)

static inline void take_no_notice(int number) {
    (void)number;
}

/* From now on SIGUSR1 interrupts system calls, in any thread of the program, and does nothing else. */
static inline void bear_interruptions(void) {
    struct sigaction action = {.sa_handler = take_no_notice};
    sigaction(SIGUSR1, &action, NULL);
}

/* The next number of a series, whose state is not 0. */
static inline uint64_t random_after(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* The text of a file of up to 1 MiB. The caller frees it. */
static inline char *read_file(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    if (!file || !text) {
        perror(path);
        exit(1);
    }
    text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
    fclose(file);
    return text;
}

#endif
