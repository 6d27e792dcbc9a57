/* The memory of this process: every address that the driver knows, its kind, and its bytes.
 *
 * Device addresses are reserved but not accessible: a program that follows one on the CPU faults,
 * as on hardware. Their bytes are in a memory file mapped elsewhere, which only the driver
 * accesses. Managed and host memory is accessible at its own address. Bytes never written take no
 * memory. */
#ifndef NVSHARE_EMULATOR_MEMORY_H
#define NVSHARE_EMULATOR_MEMORY_H

#include "driver.h"

enum memory_kind {
    MEMORY_PLAIN,      /* cuMemAlloc and friends: on one GPU, counted there */
    MEMORY_MANAGED,    /* blocks that move */
    MEMORY_HOST,       /* page-locked by the driver */
    MEMORY_REGISTERED, /* the program's own, page-locked later */
    MEMORY_MAPPED,     /* a window on physical memory or on another process's memory */
};

struct allocation {
    uint64_t address;
    uint64_t bytes;
    enum memory_kind kind;
    uint32_t gpu;
    struct CUctx_st *context; /* freed with it; NULL: outlives contexts */
    uint64_t id;              /* CU_POINTER_ATTRIBUTE_BUFFER_ID */
    unsigned flags;           /* as given by the program */
    uint32_t range;           /* managed: its range in the node */
    void *data;               /* the bytes; NULL: not stored, `data off` */
    void *owner;              /* a pool's block, a mapping, ...: begins with a uint32_t magic */
    void (*finish)(struct allocation *allocation); /* releases what is behind it; or NULL */
    bool freeing;     /* a free is under way: the program may not free it again */
    bool is_unbacked; /* it has addresses, but no memory of the GPU */
    bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    bool guarded;     /* only these GPUs may reach it, one bit each; otherwise all may */
    uint16_t readers, writers;
    struct allocation *next, *previous; /* of the same context */
};

struct allocator;
struct allocator *memory_create(struct driver *new_driver);

/* Callers hold the driver's lock. Allocation returns CUDA_SUCCESS or OUT_OF_MEMORY. */
CUresult memory_allocate_plain(struct CUctx_st *context, uint32_t gpu, uint64_t bytes,
                               struct allocation **out);
/* Whole blocks, zeroed, whose room has been taken already (room.h). */
CUresult memory_allocate_physical(uint32_t gpu, uint64_t bytes, struct allocation **out);
CUresult memory_allocate_managed(struct CUctx_st *context, uint64_t bytes, struct allocation **out);
void memory_release(struct allocation *allocation);

/* Memory at an address that was made elsewhere: host memory, mappings. `bytes` > 0. */
CUresult memory_register(struct allocation wanted, struct allocation **out);
void memory_unregister(struct allocation *allocation);

/* The allocation that contains an address, or NULL. */
struct allocation *memory_find(uint64_t address);

/* The bytes behind an address. NULL with `data off`, or if the driver does not know the address.
 * In the second case `*known` is false, and the memory is the program's own. */
void *memory_bytes(uint64_t address, bool *known);

/* Like memory_bytes for any pointer of a copy: the program's own memory is returned unchanged. */
void *memory_resolve(uint64_t address);

/* Is every byte inside one allocation, or inside mappings that lie side by side? */
bool memory_covers(uint64_t address, uint64_t bytes);

/* Does an address belong to device memory, allocated or not? Then it is not the program's own. */
bool memory_is_device_address(uint64_t address);

/* The number, among the blocks of the process, of the block that a managed address lies in. */
uint32_t memory_block(uint64_t address);

/* Does an owner with this magic own the allocation? */
static inline bool memory_is_owned_by(const struct allocation *allocation, uint32_t magic) {
    return allocation->owner && *(const uint32_t *)allocation->owner == magic;
}

/* The memory file behind plain memory, for sharing it: its descriptor and an offset. */
int memory_file(uint32_t gpu);
uint64_t memory_offset(const struct allocation *allocation);

/* Adds the memory that an operation touches from `address` on to its references and plain bytes. */
struct touch {
    uint64_t plain_bytes;
    uint32_t references;
    struct reference reference[64];
};
void memory_touch(struct touch *touch, uint64_t address, uint64_t bytes);
void memory_touch_allocation(struct touch *touch, const struct allocation *allocation);

#endif
