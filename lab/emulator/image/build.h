/* How the readers put an image together, and how they say why they refuse one. */
#ifndef NVSHARE_EMULATOR_IMAGE_BUILD_H
#define NVSHARE_EMULATOR_IMAGE_BUILD_H

#include <stdbool.h>

#include "image.h"

/* The largest block of parameters that any device takes. */
enum { IMAGE_PARAMETER_BYTES_MAX = 32764 };

/* The most that is read of anything that tells its own size. It keeps a damaged length from costing
 * the host all its memory. */
#define IMAGE_BYTES_MAX ((uint64_t)1 << 30)

struct image_reason {
    char *text; /* may be NULL */
    size_t size;
};

/* Writes the sentence and returns the error, so that a refusal is one statement. */
__attribute__((format(printf, 3, 4))) int image_refuse(const struct image_reason *why, int error,
                                                       const char *format, ...);

int image_copy_name(const char *name, size_t length, char **out);

/* These move what they are given into the image, and leave it with the caller on failure. */
int image_take_kernel(struct image *image, const struct image_kernel *kernel);
int image_take_global(struct image *image, const struct image_global *global);

int image_kernel_add_parameter(struct image_kernel *kernel, uint32_t offset, uint32_t size);
void image_kernel_release(struct image_kernel *kernel);

/* The number of threads in a block of these dimensions, at most INT_MAX. */
int image_block_threads(const uint32_t dimensions[3]);

/* Machine code runs on its own generation from its own minor version up; architecture-specific code
 * ("sm_90a") only on exactly its own device. */
bool image_binary_fits(int binary, bool specific, int device);

/* PTX is compiled for the device at hand, which may be newer than what it was written for. */
bool image_ptx_fits(int target, bool specific, bool family, int device);

#endif
