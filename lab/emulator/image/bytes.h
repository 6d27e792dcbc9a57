/* A range of untrusted bytes. The readers of this folder access it only through these functions. */
#ifndef NVSHARE_EMULATOR_IMAGE_BYTES_H
#define NVSHARE_EMULATOR_IMAGE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const uint8_t *data;
    size_t size;
};

/* Cuts a part out of a range; false if the part does not lie within it. */
static inline bool bytes_cut(struct bytes from, uint64_t offset, uint64_t size,
                             struct bytes *part) {
    if (offset > from.size || size > from.size - offset)
        return false;
    part->data = from.data + offset;
    part->size = size;
    return true;
}

/* The formats are little-endian and so are the machines that CUDA runs on. Fields may be unaligned,
 * so they are copied. The caller has cut a range that is long enough. */
static inline uint16_t bytes_u16(struct bytes from, size_t offset) {
    uint16_t value;
    memcpy(&value, from.data + offset, sizeof value);
    return value;
}

static inline uint32_t bytes_u32(struct bytes from, size_t offset) {
    uint32_t value;
    memcpy(&value, from.data + offset, sizeof value);
    return value;
}

static inline uint64_t bytes_u64(struct bytes from, size_t offset) {
    uint64_t value;
    memcpy(&value, from.data + offset, sizeof value);
    return value;
}

#endif
