/* Tells the kinds of images apart and sends each to its reader. */
#include "image.h"

#include <errno.h>
#include <stdlib.h>

#include "build.h"
#include "bytes.h"
#include "cubin.h"
#include "fatbin.h"
#include "ptx.h"

/* Programs with embedded code pass this to cuModuleLoadData. */
struct wrapper {
    uint32_t magic, version;
    const void *fatbin;
    const void *file_name_or_prelinked;
};

static const uint8_t elf_magic[4] = {0x7f, 'E', 'L', 'F'};
static const uint8_t fatbin_magic[4] = {0x50, 0xed, 0x55, 0xba};
static const uint8_t wrapper_magic[4] = {0xb1, 0x43, 0x62, 0x46};

/* Compares byte by byte and stops at the first difference: a text of unknown size may be shorter
 * than a magic number, but its NUL differs from all of them. */
static bool starts_with(const uint8_t *data, size_t size, const uint8_t magic[4]) {
    for (size_t i = 0; i < 4; i++)
        if ((size != 0 && i >= size) || data[i] != magic[i])
            return false;
    return true;
}

static int load_cubin(struct image *image, const uint8_t *data, size_t size, int device,
                      const struct image_reason *why) {
    struct bytes cubin = {data, size};
    if (size == 0) {
        int error = cubin_extent(data, &cubin.size, why);
        if (error != 0)
            return error;
    }
    image->bytes = cubin.size;
    return cubin_read(cubin, device, image, why);
}

static int load_fatbin(struct image *image, const uint8_t *data, size_t size, int device,
                       const struct image_reason *why) {
    struct bytes fatbin = {data, size};
    if (size == 0) {
        uint64_t extent;
        int error = fatbin_extent((struct bytes){data, FATBIN_HEADER_BYTES}, &extent, why);
        if (error != 0)
            return error;
        fatbin.size = extent;
    }
    struct fatbin_entry entry;
    struct bytes content;
    void *owned;
    int error = fatbin_choose(fatbin, device, &entry, why);
    if (error == 0)
        error = fatbin_unpack(&entry, &content, &owned, why);
    if (error != 0)
        return error;
    image->bytes = content.size;
    error = entry.kind == FATBIN_PTX ? ptx_read(content, device, image, why)
                                     : cubin_read(content, device, image, why);
    free(owned);
    return error;
}

static int load_wrapper(struct image *image, const uint8_t *data, size_t size, int device,
                        const struct image_reason *why) {
    struct wrapper wrapper;
    if (size != 0)
        return image_refuse(why, -EBADMSG,
                            "a fatbin wrapper is only valid in memory, not in a file");
    memcpy(&wrapper, data, sizeof wrapper);
    if (wrapper.fatbin == NULL || !starts_with(wrapper.fatbin, 0, fatbin_magic))
        return image_refuse(why, -EBADMSG, "the fatbin wrapper does not point to a fatbin");
    return load_fatbin(image, wrapper.fatbin, 0, device, why);
}

static int load_any(struct image *image, const uint8_t *data, size_t size, int device,
                    const struct image_reason *why) {
    if (starts_with(data, size, elf_magic))
        return load_cubin(image, data, size, device, why);
    if (starts_with(data, size, fatbin_magic))
        return load_fatbin(image, data, size, device, why);
    if (starts_with(data, size, wrapper_magic))
        return load_wrapper(image, data, size, device, why);
    struct bytes text = {data, size != 0 ? size : strlen((const char *)data)};
    image->bytes = text.size;
    return ptx_read(text, device, image, why);
}

int image_load(const void *data, size_t size, int compute_capability, struct image **out, char *why,
               size_t why_bytes) {
    struct image_reason reason = {why, why_bytes};
    struct image *image = calloc(1, sizeof *image);
    if (image == NULL)
        return image_refuse(&reason, -ENOMEM, "no memory for an image");
    int error = load_any(image, data, size, compute_capability, &reason);
    if (error == -ENOMEM)
        image_refuse(&reason, error, "no memory for an image");
    if (error != 0) {
        image_free(image);
        return error;
    }
    *out = image;
    return 0;
}
