/* Virtual memory management: physical memory that has handles, and addresses it is mapped at. */
#ifndef NVSHARE_EMULATOR_VMM_H
#define NVSHARE_EMULATOR_VMM_H

#include "../process/memory.h"

#define PHYSICAL_MAGIC 0x50687931u
#define MAPPING_MAGIC  0x4d617031u

/* Lives as long as there is a handle to it or a mapping of it. */
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

/* All of these want the driver's lock. Creation leaves one handle with the caller. */
CUresult physical_create(const struct physical *wanted, struct physical **out);
struct physical *physical_find(CUmemGenericAllocationHandle handle);
void physical_drop(struct physical *physical); /* if nobody has it any more */

/* The mapping behind an allocation, or NULL. */
struct mapping *mapping_of(const struct allocation *allocation);

/* A file of its own for memory that another process may import; its name tells the GPU. */
CUresult shared_file_create(uint32_t gpu, uint64_t bytes, int *file);

#endif
