/* For programs that check a part of ours: a failed check ends them, with a line that says where. */
#ifndef NVSHARE_TESTS_CHECK_H
#define NVSHARE_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#endif
