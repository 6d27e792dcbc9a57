/* The answer of a call that is not implemented: an error, and one line per call on stderr, so that
 * users do not take a gap in the emulator for a fault of their program. */
#ifndef NVSHARE_EMULATOR_UNSUPPORTED_H
#define NVSHARE_EMULATOR_UNSUPPORTED_H

#include <cuda.h>
#include <nvml.h>

/* The name must be a string literal: it is remembered, not copied. Any thread may call these. */
CUresult emulator_unsupported(const char *name);
nvmlReturn_t emulator_nvml_unsupported(const char *name);

#endif
