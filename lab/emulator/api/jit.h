/* The options of the just-in-time compiler. There is no compiler here, so most of them change
 * nothing; but programs do read the log that they ask for. */
#ifndef NVSHARE_EMULATOR_JIT_H
#define NVSHARE_EMULATOR_JIT_H

#include "../process/driver.h"

/* Answers the options: `error` (may be empty) into the error log, nothing into the other one. */
void jit_answer(unsigned count, CUjit_option *options, void **values, const char *error);

#endif
