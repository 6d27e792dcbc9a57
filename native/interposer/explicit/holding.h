/* Physical memory that the program holds by handles of its own (cuMemCreate), and maps itself. A handle that it gets
 * is ours, and stays the same while the driver's handles behind it come and go with the memory. What the program has
 * mapped, and for whom, is noted, and is so again when the memory is back.
 *
 * What others know of cannot move: a handle that was exported, that a multicast object or another GPU's registration
 * refers to, or that is mapped in a way that is not understood here. It stays for good (holding_stay). Memory that
 * could be exported, but was not, moves; it is one driver's handle however large it is, since only one can be
 * exported. */
#ifndef NVSHARE_EXPLICIT_HOLDING_H
#define NVSHARE_EXPLICIT_HOLDING_H

#include "lookup/driver.h"
#include "region.h"

struct device;

struct holding {
    struct region *region;
    struct device *device;
    CUmemAllocationProp properties; /* as the program asked for */
    unsigned handles;               /* that the program has of it; it lives on while it is mapped */
};

/* Whether memory that is asked for in this way can be served. */
bool holding_can_be(const CUmemAllocationProp *properties, size_t bytes, unsigned long long flags);

/* Makes one: the entry's key is the program's handle. */
CUresult holding_create(struct device *device, const CUmemAllocationProp *properties,
                        struct ledger_entry *entry);

/* The last reference is gone. */
void holding_is_gone(const struct ledger_entry *entry);

/* By handle: what is behind it, or NULL if it is the driver's own, or was released. */
struct holding *holding_find(CUmemGenericAllocationHandle handle);

/* The program gets a handle to what is mapped at an address, or NULL; or gives one up that holding_find has found. */
struct holding *holding_retain(CUdeviceptr address);
void holding_release(struct holding *holding);

/* By address: what is mapped there, or NULL; and the mapping itself, as it is now. */
struct holding *holding_at(CUdeviceptr address);
bool holding_mapping(CUdeviceptr address, struct mapping *out);

CUresult holding_map(struct holding *holding, CUdeviceptr address, size_t bytes, size_t offset);
CUresult holding_unmap(CUdeviceptr address);

/* Rights over a range that begins with a mapping of ours. Sets *done to how much of the range that was. */
CUresult holding_set_access(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *list,
                            size_t count, size_t *done);
CUresult holding_get_access(CUdeviceptr address, int gpu, unsigned long long *flags);

/* It stays on the GPU from now on, and this is the driver's handle. Waits until it is there. */
CUresult holding_stay(struct holding *holding, CUmemGenericAllocationHandle *handle);

#endif
