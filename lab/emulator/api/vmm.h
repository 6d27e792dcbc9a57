/* Virtual memory management: physical memory that has handles, and addresses it is mapped at. */
#ifndef NVSHARE_EMULATOR_VMM_H
#define NVSHARE_EMULATOR_VMM_H

#include "../process/context.h"
#include "../process/memory.h"

#define PHYSICAL_MAGIC 0x50687931u
#define MAPPING_MAGIC  0x4d617031u

/* Lives as long as it has a handle or a mapping. */
struct physical {
    uint32_t magic;
    uint32_t handles, mappings;
    uint64_t id;
    uint64_t bytes;
    uint32_t gpu;
    CUmemAllocationProp properties;
    struct allocation *memory; /* counted on the GPU; NULL: another process's, counted there */
    void *data;                /* NULL: nowhere, `data off` */
    int file;                  /* of memory that can be exported, else -1 */
};

/* Owner of a MEMORY_MAPPED allocation that cuMemMap made. */
struct mapping {
    uint32_t magic;
    struct physical *physical;
};

/* Does any GPU that the program sees support memory with handles? A GPU without it fails such calls
 * (a fraction of a GPU has none, reported: openxla/xla issue 49252); the number of the error is
 * assumed. */
bool handles_are_supported(void);

/* First line of a call that is about no GPU in particular. */
#define REQUIRE_HANDLES()                                                                          \
    do {                                                                                           \
        REQUIRE_LIVE_CONTEXT();                                                                    \
        REQUIRE(handles_are_supported(), CUDA_ERROR_NOT_SUPPORTED);                                \
    } while (0)

/* Callers of all of these hold the driver's lock. Creation leaves one handle with the caller. */
CUresult physical_create(const struct physical *wanted, struct physical **out);
struct physical *physical_find(CUmemGenericAllocationHandle handle);
void physical_drop(struct physical *physical); /* if no handle and no mapping is left */

/* The mapping behind an allocation, or NULL. */
struct mapping *mapping_of(const struct allocation *allocation);

/* The access that a GPU has to it. */
CUmemAccess_flags mapping_access(const struct allocation *mapping, uint32_t gpu);

/* Makes a file for memory that another process may import. Its name has the number of the GPU. */
CUresult shared_file_create(uint32_t gpu, uint64_t bytes, int *file);

#endif
