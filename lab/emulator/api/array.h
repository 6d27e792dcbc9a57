/* Arrays: plain device memory with a shape. Rows lie one after the other without gaps, so an offset
 * in bytes means the same in a copy of one piece and in a copy of a box. */
#ifndef NVSHARE_EMULATOR_ARRAY_H
#define NVSHARE_EMULATOR_ARRAY_H

#include "../process/memory.h"
#include "../process/task.h"

#define ARRAY_MAGIC  0x41727231u
#define MIPMAP_MAGIC 0x4d697031u

struct CUarray_st {
    uint32_t magic;
    CUDA_ARRAY3D_DESCRIPTOR shape; /* as given; a height or depth of 0 counts as 1 */
    size_t element_bytes;
    struct allocation *memory; /* NULL once its context is gone */
    uint64_t address; /* of its first byte: a level of a mipmapped array is not the first */
    bool is_level;    /* goes with its mipmapped array */
};

/* The address of a byte of an array; 0 if fewer than `bytes` of the array follow from there. */
uint64_t array_address(CUarray array, size_t offset, size_t bytes);

/* The side of a copy that has its first byte at (x bytes, y, z) of an array, if the box fits. */
CUresult array_side(CUarray array, size_t x, size_t y, size_t z, const struct copy_task *box,
                    struct copy_side *out);

/* Is this a shape that an array can have here? */
CUresult array_check_shape(const CUDA_ARRAY3D_DESCRIPTOR *shape);

/* Bytes of an element; 0 for a format that has none of its own (planar and compressed ones). */
size_t array_element_bytes(CUarray_format format, unsigned channels);

#endif
