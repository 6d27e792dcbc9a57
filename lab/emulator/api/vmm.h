/* Virtual memory management: physical memory that has handles, and addresses it is mapped at. */
#ifndef NVSHARE_EMULATOR_VMM_H
#define NVSHARE_EMULATOR_VMM_H

#include "../process/context.h"
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

/* Has any GPU that the program sees memory with handles? One that has none fails such calls (a fraction of
 * a GPU does not, reported: openxla/xla issue 49252); the number of the error is assumed. */
bool handles_are_supported(void);

/* First line of a call that is about no GPU in particular. */
#define REQUIRE_HANDLES()                                                                          \
    do {                                                                                           \
        REQUIRE_LIVE_CONTEXT();                                                                    \
        REQUIRE(handles_are_supported(), CUDA_ERROR_NOT_SUPPORTED);                                \
    } while (0)

/* All of these want the driver's lock. Creation leaves one handle with the caller. */
CUresult physical_create(const struct physical *wanted, struct physical **out);
struct physical *physical_find(CUmemGenericAllocationHandle handle);
void physical_drop(struct physical *physical); /* if nobody has it any more */

/* The mapping behind an allocation, or NULL. */
struct mapping *mapping_of(const struct allocation *allocation);

/* What a GPU may do with it. */
CUmemAccess_flags mapping_access(const struct allocation *mapping, uint32_t gpu);

/* A file of its own for memory that another process may import; its name tells the GPU. */
CUresult shared_file_create(uint32_t gpu, uint64_t bytes, int *file);

#endif
