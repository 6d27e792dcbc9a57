/* The state of a node, beyond the data of NVML. Private to this project: its tests, benchmarks and
 * tools read it. It is no part of NVML. */
#ifndef NVSHARE_EMULATOR_NVML_REPORT_H
#define NVSHARE_EMULATOR_NVML_REPORT_H

#include <nvml.h>

/* Writes the state of the node in `folder` as JSON, with its final NUL. `bytes` is the size of the
 * buffer and becomes the needed size. NVML need not be initialised, nor be on that node.
 * NVML_ERROR_INSUFFICIENT_SIZE: call again with more; the buffer may be NULL to get the size.
 * NVML_ERROR_NOT_FOUND: there is no such node; a sentence on stderr says why. */
nvmlReturn_t nvshareEmulatorReport(const char *folder, char *json, unsigned int *bytes);

#endif
