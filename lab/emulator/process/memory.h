/* The memory of this process: every address the driver knows, what it is, and where its bytes are.
 *
 * Device addresses are reserved but not accessible: a program that follows one on the CPU faults, as
 * on hardware. Their bytes are in a memory file mapped elsewhere, and only the driver goes there.
 * Managed and host memory is accessible at its own address. Bytes nobody wrote take no memory. */
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
    struct CUctx_st *context; /* goes with it; NULL: outlives contexts */
    uint64_t id;              /* CU_POINTER_ATTRIBUTE_BUFFER_ID */
    unsigned flags;           /* as given by the program */
    uint32_t range;           /* managed: its range in the node */
    void *data;               /* where the bytes are; NULL: nowhere, `data off` */
    void *owner;              /* a pool's block, a mapping, ...: begins with a uint32_t magic */
    void (*finish)(struct allocation *allocation); /* takes down what lies behind it; or NULL */
    bool freeing;     /* a stream is going to free it: the program may not do so again */
    bool is_unbacked; /* it has addresses, but none of the GPU's memory */
    bool sync_memops; /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
    bool guarded;     /* only these GPUs may reach it, one bit each; otherwise all may */
    uint16_t readers, writers;
    struct allocation *next, *previous; /* of the same context */
};

struct allocator;
struct allocator *memory_create(struct driver *new_driver);

/* All of these want the driver's lock. Allocation returns CUDA_SUCCESS or OUT_OF_MEMORY. */
CUresult memory_allocate_plain(struct CUctx_st *context, uint32_t gpu, uint64_t bytes,
                               struct allocation **out);
/* Whole blocks whose room has been taken already (room.h), and which are zero. */
CUresult memory_allocate_physical(uint32_t gpu, uint64_t bytes, struct allocation **out);
CUresult memory_allocate_managed(struct CUctx_st *context, uint64_t bytes, struct allocation **out);
void memory_release(struct allocation *allocation);

/* Memory at an address that was made elsewhere: host memory, mappings. `bytes` > 0. */
CUresult memory_register(struct allocation wanted, struct allocation **out);
void memory_unregister(struct allocation *allocation);

/* The allocation that contains an address, or NULL. */
struct allocation *memory_find(uint64_t address);

/* The bytes behind an address, `bytes` of them inside one allocation. NULL with `data off`, or when
 * an address is not the driver's at all (`*known` tells: then it is the program's own memory). */
void *memory_bytes(uint64_t address, bool *known);

/* Like memory_bytes for any pointer a copy may be given: own memory is returned as it is. */
void *memory_resolve(uint64_t address);

/* Is every byte inside one allocation, or inside mappings that lie side by side? */
bool memory_covers(uint64_t address, uint64_t bytes);

/* Does an address belong to device memory, allocated or not? Then it is not the program's own. */
bool memory_is_device_address(uint64_t address);

/* The number, among the blocks of the process, of the block that a managed address lies in. */
uint32_t memory_block(uint64_t address);

/* Does something of this sort own the allocation? */
static inline bool memory_is_owned_by(const struct allocation *allocation, uint32_t magic) {
    return allocation->owner && *(const uint32_t *)allocation->owner == magic;
}

/* The memory file behind plain memory, for those who share it: its descriptor and an offset. */
int memory_file(uint32_t gpu);
uint64_t memory_offset(const struct allocation *allocation);

/* Adds what an operation touches from `address` on to its references and to its plain bytes. */
struct touch {
    uint64_t plain_bytes;
    uint32_t references;
    struct reference reference[64];
};
void memory_touch(struct touch *touch, uint64_t address, uint64_t bytes);
void memory_touch_allocation(struct touch *touch, const struct allocation *allocation);

#endif
