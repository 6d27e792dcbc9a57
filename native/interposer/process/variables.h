/* Variables of the environment, one by one: their text as a value. What they mean is config.h's business.
 *
 * A value that makes no sense is a warning, and as if unset. Where it would have been a limit, it also says that something is
 * wrong: to go on without the limit could harm others, and to end the program is not our business. */
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

/* One of a few words, and what it stands for. The last one has no name. */
struct variable_choice {
    const char *name;
    uint32_t meaning;
};

/* 0 if it is not set, or wrong. */
uint32_t variable_choice(const char *name, const struct variable_choice *choices, bool *wrong);

#endif
