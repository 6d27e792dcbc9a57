/* Single variables of the environment: their text as a value. config.h knows what they mean.
 *
 * A value that makes no sense gives a warning, and counts as unset. If it was a limit, *wrong is
 * set too: to go on without the limit could harm others, and it is not for us to end the
 * program. */
#ifndef NVSHARE_VARIABLES_H
#define NVSHARE_VARIABLES_H

#include <stdbool.h>
#include <stdint.h>

/* NULL if it is not set, or empty. */
const char *variable_get(const char *name);

void variable_complain(const char *name, const char *value, const char *wanted);

/* 0 or 1. */
bool variable_flag(const char *name);

/* Bytes, more than 0; 0 if it is not set, or wrong. */
uint64_t variable_amount(const char *name, bool *wrong);

/* From least to most; 0 if it is not set, or wrong. */
uint64_t variable_number(const char *name, uint64_t least, uint64_t most, bool *wrong);

/* One of a few words, and its value. The last one has no name. */
struct variable_choice {
    const char *name;
    uint32_t meaning;
};

/* 0 if it is not set, or wrong. */
uint32_t variable_choice(const char *name, const struct variable_choice *choices, bool *wrong);

#endif
