/* LZ4 and zstd, from the machine's own libraries, if a fatbin needs them.
 *
 * They are looked up at run time, because most images are not compressed: the emulator must start
 * on a machine that has neither library.
 */
#include "decompress.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* A test builds this file with names that do not exist. */
#ifndef IMAGE_LZ4_LIBRARY
#define IMAGE_LZ4_LIBRARY "liblz4.so.1"
#endif
#ifndef IMAGE_ZSTD_LIBRARY
#define IMAGE_ZSTD_LIBRARY "libzstd.so.1"
#endif

typedef int lz4_decompress_function(const char *from, char *to, int from_bytes, int to_bytes);
typedef size_t zstd_decompress_function(void *to, size_t to_bytes, const void *from,
                                        size_t from_bytes);

struct codec {
    const char *name, *library, *function;
    /* The format's highest ratio. A larger claim is false, and nothing is allocated for it. */
    uint64_t ratio_max;
};

static const struct codec codecs[] = {
    [IMAGE_LZ4] = {"LZ4", IMAGE_LZ4_LIBRARY, "LZ4_decompress_safe", 256},
    [IMAGE_ZSTD] = {"zstd", IMAGE_ZSTD_LIBRARY, "ZSTD_decompress", 65536},
};

/* Both functions return an error as a number that cannot be the expected size: LZ4 a negative one,
 * zstd one near SIZE_MAX. The address is copied, because ISO C has no cast from an object to a
 * function. */
static bool unpack(enum image_compression compression, void *function, struct bytes packed,
                   void *to, uint64_t size) {
    if (compression == IMAGE_LZ4) {
        lz4_decompress_function *decompress;
        memcpy(&decompress, &function, sizeof decompress);
        int written = decompress((const char *)packed.data, to, (int)packed.size, (int)size);
        return written >= 0 && (uint64_t)written == size;
    }
    zstd_decompress_function *decompress;
    memcpy(&decompress, &function, sizeof decompress);
    return decompress(to, size, packed.data, packed.size) == size;
}

static int unpack_with(const struct codec *codec, enum image_compression compression,
                       void *function, struct bytes packed, uint64_t size, void **out,
                       const struct image_reason *why) {
    void *to = malloc(size);
    if (to == NULL)
        return image_refuse(why, -ENOMEM, "no memory to decompress an image");
    if (!unpack(compression, function, packed, to, size)) {
        free(to);
        return image_refuse(why, -EBADMSG, "an image compressed with %s is damaged", codec->name);
    }
    *out = to;
    return 0;
}

int image_decompress(enum image_compression compression, struct bytes packed, uint64_t size,
                     void **out, const struct image_reason *why) {
    const struct codec *codec = &codecs[compression];
    if (size == 0 || size > IMAGE_BYTES_MAX || packed.size > INT_MAX ||
        size / codec->ratio_max > packed.size)
        return image_refuse(why, -EBADMSG, "an image compressed with %s states a wrong size",
                            codec->name);
    void *library = dlopen(codec->library, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return image_refuse(why, -ENOTSUP,
                            "the image is compressed with %s, and %s is not installed. Install it, "
                            "or build with fatbinary --compress-mode=none",
                            codec->name, codec->library);
    void *function = dlsym(library, codec->function);
    int error = function != NULL
                    ? unpack_with(codec, compression, function, packed, size, out, why)
                    : image_refuse(why, -ENOTSUP, "%s has no %s", codec->library, codec->function);
    dlclose(library);
    return error;
}
