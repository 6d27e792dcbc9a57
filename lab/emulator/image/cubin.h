/* Cubins: compiled kernels in an ELF file. */
#ifndef NVSHARE_EMULATOR_IMAGE_CUBIN_H
#define NVSHARE_EMULATOR_IMAGE_CUBIN_H

#include "build.h"
#include "bytes.h"

/* The size of a cubin whose address alone is known. */
int cubin_extent(const uint8_t *data, size_t *size, const struct image_reason *why);

/* Adds the kernels and globals of a cubin to an image. */
int cubin_read(struct bytes cubin, int device, struct image *image, const struct image_reason *why);

#endif
