/* The end of work that may use memory, waited for as cuMemFree does. */
#ifndef NVSHARE_EXPLICIT_SETTLE_H
#define NVSHARE_EXPLICIT_SETTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "../driver.h"

/* Waits until everything that was submitted in a context, by its number, is done. Sets *is_settled to whether that
 * is so: while anything is being captured nobody can tell, and nobody waits. Returns the driver's verdict on the
 * work. */
CUresult settle_work(uint64_t context, bool *is_settled);

#endif
