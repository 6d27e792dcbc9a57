/* Physical memory that the program has by handles of its own (cuMemCreate), and maps itself. The
 * program gets a handle of ours, which stays the same while the driver's handles behind it come and
 * go with the memory. The program's mappings and access rights are recorded, and set again when the
 * memory is back.
 *
 * Memory that is known elsewhere cannot move: its handle was exported, a multicast object or
 * another GPU's registration refers to it, or it is mapped in a way that is not understood here. It
 * stays permanently (physical_stay). Memory that could be exported, but was not, moves. It is one
 * driver's handle however large it is, since only one can be exported. */
#ifndef NVSHARE_EXPLICIT_PHYSICAL_H
#define NVSHARE_EXPLICIT_PHYSICAL_H

#include "lookup/driver.h"
#include "region.h"

struct device;

struct physical {
    struct region *region;
    struct device *device;
    CUmemAllocationProp properties; /* as the program asked for them */
    unsigned handles;               /* that the program has of it; a mapping keeps it alive too */
};

/* Whether memory with these properties can be served. */
bool physical_can_be(const CUmemAllocationProp *properties, size_t bytes, unsigned long long flags);

/* Makes one. The entry's key becomes the program's handle. */
CUresult physical_create(struct device *device, const CUmemAllocationProp *properties,
                         struct ledger_entry *entry);

/* The last reference is gone. */
void physical_is_gone(const struct ledger_entry *entry);

/* By handle: the physical memory, or NULL if the handle is the driver's own, or was released. */
struct physical *physical_find(CUmemGenericAllocationHandle handle);

/* Adds a handle to the memory mapped at an address, or returns NULL; and gives up one handle. */
struct physical *physical_retain(CUdeviceptr address);
void physical_release(struct physical *physical);

/* By address: the physical memory mapped there, or NULL; and a copy of its mapping. */
struct physical *physical_at(CUdeviceptr address);
bool physical_mapping(CUdeviceptr address, struct mapping *out);

CUresult physical_map(struct physical *physical, CUdeviceptr address, size_t bytes, size_t offset);
CUresult physical_unmap(CUdeviceptr address);

/* Sets rights over a range that begins with a mapping of ours. Sets *done to the mapping's size. */
CUresult physical_set_access(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *list,
                             size_t count, size_t *done);
CUresult physical_get_access(CUdeviceptr address, int gpu, unsigned long long *flags);

/* Makes it stay on the GPU from now on, and returns the driver's handle. Waits until it is
 * there. */
CUresult physical_stay(struct physical *physical, CUmemGenericAllocationHandle *handle);

#endif
