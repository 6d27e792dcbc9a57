/* The end of work that may use memory, waited for as cuMemFree does. */
#ifndef NVSHARE_EXPLICIT_SYNCHRONISE_H
#define NVSHARE_EXPLICIT_SYNCHRONISE_H

#include <stdbool.h>
#include <stdint.h>

#include "lookup/driver.h"

/* Waits until everything that was submitted in a context, by its number, is done. Sets *is_done to whether that
 * is so: while anything is being captured nobody can tell, and nobody waits. Returns the driver's verdict on the
 * work. */
CUresult synchronise_work(uint64_t context, bool *is_done);

#endif
