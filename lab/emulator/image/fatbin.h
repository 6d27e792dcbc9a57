/* Fatbins: several builds of one module in one block. */
#ifndef NVSHARE_EMULATOR_IMAGE_FATBIN_H
#define NVSHARE_EMULATOR_IMAGE_FATBIN_H

#include "build.h"
#include "bytes.h"

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_CUBIN = 2 };

struct fatbin_entry {
    enum fatbin_kind kind;
    int architecture;
    uint64_t flags;        /* of the stored block */
    struct bytes stored;   /* perhaps compressed */
    uint64_t unpacked;     /* bytes after decompression, when compressed */
    uint64_t offset, size; /* the entry within the unpacked block; a size of 0: all of it */
};

/* The size of a fatbin with its header, as the header states it. */
int fatbin_extent(struct bytes header, uint64_t *size, const struct image_reason *why);

/* The best entry for a device: its own machine code, else compatible machine code, else PTX that is
 * not newer than the device, the newest of each. -ENOEXEC if there is none. */
int fatbin_choose(struct bytes fatbin, int device, struct fatbin_entry *best,
                  const struct image_reason *why);

/* The plain content of an entry. The caller frees *owned, which may be NULL, after use. */
int fatbin_unpack(const struct fatbin_entry *entry, struct bytes *content, void **owned,
                  const struct image_reason *why);

enum { FATBIN_HEADER_BYTES = 16 };

#endif
