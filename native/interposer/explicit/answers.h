/* What a program is told about explicit memory: the same as a driver says of memory by cuMemAlloc,
 * even while the memory is away and the driver knows nothing of it. */
#ifndef NVSHARE_EXPLICIT_ANSWERS_H
#define NVSHARE_EXPLICIT_ANSWERS_H

#include "lookup/driver.h"
#include "memory/ledger.h"

/* The allocation by cuMemAlloc that an address lies in. Returns false if it is not explicit
 * memory. */
bool answers_find(CUdeviceptr pointer, struct ledger_entry *entry);

/* The value of a pointer's attribute. Returns false if the driver is to be asked. */
bool answers_attribute(CUpointer_attribute attribute, CUdeviceptr pointer, void *data,
                       CUresult *result);

/* What cuMemGetAddressRange says: the allocation, or one mapping. Returns false as above. */
bool answers_range(CUdeviceptr pointer, CUdeviceptr *begin, size_t *bytes);

#endif
