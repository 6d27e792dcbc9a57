/* PTX: the vendor's portable assembly, as text. Only declarations are read. */
#ifndef NVSHARE_EMULATOR_IMAGE_PTX_H
#define NVSHARE_EMULATOR_IMAGE_PTX_H

#include "build.h"
#include "bytes.h"

/* Adds the kernels and globals of a PTX module to an image. */
int ptx_read(struct bytes text, int device, struct image *image, const struct image_reason *why);

#endif
