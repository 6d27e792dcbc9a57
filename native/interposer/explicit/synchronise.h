/* Waits for work that may use memory, as cuMemFree does. */
#ifndef NVSHARE_EXPLICIT_SYNCHRONISE_H
#define NVSHARE_EXPLICIT_SYNCHRONISE_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

/* Waits until everything submitted in a context, given by its number, is done. Sets *is_done to
 * whether that is so: during a capture this cannot be known, and it does not wait. Returns the
 * driver's result for the work. */
CUresult synchronise_work(uint64_t context, bool *is_done);

#endif
