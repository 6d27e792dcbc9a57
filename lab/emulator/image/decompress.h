/* The two compressions found in fatbins. */
#ifndef NVSHARE_EMULATOR_IMAGE_DECOMPRESS_H
#define NVSHARE_EMULATOR_IMAGE_DECOMPRESS_H

#include "build.h"
#include "bytes.h"

enum image_compression { IMAGE_LZ4, IMAGE_ZSTD };

/* Fills exactly `size` bytes. On success the caller frees *out. */
int image_decompress(enum image_compression compression, struct bytes packed, uint64_t size,
                     void **out, const struct image_reason *why);

#endif
