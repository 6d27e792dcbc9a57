/* Building an image from its parts, and refusing one with a reason. */
#ifndef NVSHARE_EMULATOR_IMAGE_BUILD_H
#define NVSHARE_EMULATOR_IMAGE_BUILD_H

#include <stdbool.h>

#include "image.h"

/* The largest block of parameters that any device takes. */
enum { IMAGE_PARAMETER_BYTES_MAX = 32764 };

/* The limit for any object that states its own size, so that a damaged length does not exhaust the
 * memory of the host. */
#define IMAGE_BYTES_MAX ((uint64_t)1 << 30)

struct image_reason {
    char *text; /* may be NULL */
    size_t size;
};

/* Writes the sentence and returns the error, so that a refusal is one statement. */
__attribute__((format(printf, 3, 4))) int image_refuse(const struct image_reason *why, int error,
                                                       const char *format, ...);

int image_copy_name(const char *name, size_t length, char **out);

/* These move their argument into the image. On failure the caller keeps it. */
int image_take_kernel(struct image *image, const struct image_kernel *kernel);
int image_take_global(struct image *image, const struct image_global *global);

int image_kernel_add_parameter(struct image_kernel *kernel, uint32_t offset, uint32_t size);
void image_kernel_release(struct image_kernel *kernel);

/* The number of threads in a block of these dimensions, at most INT_MAX. */
int image_block_threads(const uint32_t dimensions[3]);

/* Machine code runs on its own generation from its own minor version up; architecture-specific code
 * ("sm_90a") only on exactly its own device. */
bool image_binary_fits(int binary, bool specific, int device);

/* PTX is compiled for the device at hand, which may be newer than the target of the PTX. */
bool image_ptx_fits(int target, bool specific, bool family, int device);

#endif
