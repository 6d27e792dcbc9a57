/* Walks a fatbin, ranks its entries for a device, and unpacks one of them.
 *
 * The vendor does not document the layout; it was derived from the output of its `fatbinary` tool.
 * Header: u32 magic, u16 version, u16 header bytes, u64 bytes after the header.
 */
#include "fatbin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "decompress.h"

/* Offsets within the header of an entry. */
enum {
    ENTRY_KIND = 0,           /* u16 */
    ENTRY_HEADER_BYTES = 4,   /* u32; within a bundle: offset in the unpacked block */
    ENTRY_STORED_BYTES = 8,   /* u64, padded */
    ENTRY_PACKED_BYTES = 16,  /* u32, not padded; 0 when not compressed */
    ENTRY_EXTRA = 20,         /* u32, where more fields begin */
    ENTRY_ARCHITECTURE = 28,  /* u32 */
    ENTRY_FLAGS = 40,         /* u64 */
    ENTRY_UNPACKED_BYTES = 56 /* u64; 0 when not compressed */
};
enum { ENTRY_BYTES = 64, KIND_BUNDLE = 256, BUNDLE_HEAD_BYTES = 8 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_SPECIFIC = 0x100000, FLAG_FAMILY = 0x200000 };

/* The search for the best entry, with a list of the rejected ones for the message. */
struct choice {
    int device;
    int rank;
    struct fatbin_entry best;
    char seen[160];
    size_t seen_length;
};

int fatbin_extent(struct bytes header, uint64_t *size, const struct image_reason *why) {
    if (header.size < FATBIN_HEADER_BYTES)
        return image_refuse(why, -EBADMSG, "the fatbin is shorter than its header");
    uint16_t header_bytes = bytes_u16(header, 6);
    uint64_t body = bytes_u64(header, 8);
    if (header_bytes < FATBIN_HEADER_BYTES || body > IMAGE_BYTES_MAX)
        return image_refuse(why, -EBADMSG, "the header of the fatbin is damaged");
    *size = header_bytes + body;
    return 0;
}

/* 0 if the entry is unusable. Machine code comes before PTX, then the higher architecture, then the
 * build for exactly this device. */
static int rank_entry(const struct fatbin_entry *entry, uint64_t flags, int device) {
    bool specific = (flags & FLAG_SPECIFIC) != 0;
    int finer = entry->architecture * 2 + specific;
    if (entry->kind == FATBIN_CUBIN && image_binary_fits(entry->architecture, specific, device))
        return 10000 + finer;
    bool family = (flags & FLAG_FAMILY) != 0;
    if (entry->kind == FATBIN_PTX && image_ptx_fits(entry->architecture, specific, family, device))
        return 1 + finer;
    return 0;
}

static void consider(struct choice *choice, const struct fatbin_entry *entry, uint64_t flags) {
    int rank = rank_entry(entry, flags, choice->device);
    if (rank > choice->rank) {
        choice->rank = rank;
        choice->best = *entry;
    }
    size_t room = sizeof choice->seen - choice->seen_length;
    const char *mark = flags & FLAG_SPECIFIC ? "a" : flags & FLAG_FAMILY ? "f" : "";
    int written =
        snprintf(choice->seen + choice->seen_length, room, " %s_%d%s",
                 entry->kind == FATBIN_CUBIN ? "sm" : "compute", entry->architecture, mark);
    if (written > 0 && (size_t)written < room)
        choice->seen_length += (size_t)written;
    else
        choice->seen[choice->seen_length] = '\0';
}

static bool fill_entry(struct bytes header, struct fatbin_entry *entry) {
    uint16_t kind = bytes_u16(header, ENTRY_KIND);
    uint32_t architecture = bytes_u32(header, ENTRY_ARCHITECTURE);
    if ((kind != FATBIN_PTX && kind != FATBIN_CUBIN) || architecture > 999)
        return false;
    entry->kind = kind;
    entry->architecture = (int)architecture;
    return true;
}

/* `fatbinary --concat` compresses several cubins as one block, described by a list of headers. */
static int consider_bundle(struct choice *choice, struct bytes header, struct fatbin_entry *entry,
                           const struct image_reason *why) {
    struct bytes list;
    uint32_t extra = bytes_u32(header, ENTRY_EXTRA);
    if (!bytes_cut(header, extra, BUNDLE_HEAD_BYTES, &list))
        return image_refuse(why, -EBADMSG, "a bundle in the fatbin has no list");
    uint32_t count = bytes_u32(list, 0);
    if (!bytes_cut(header, (uint64_t)extra + BUNDLE_HEAD_BYTES, (uint64_t)count * ENTRY_BYTES,
                   &list))
        return image_refuse(why, -EBADMSG, "the list of a bundle in the fatbin is cut short");
    for (uint32_t i = 0; i < count; i++) {
        struct bytes item = {list.data + (size_t)i * ENTRY_BYTES, ENTRY_BYTES};
        if (!fill_entry(item, entry))
            continue;
        entry->offset = bytes_u32(item, ENTRY_HEADER_BYTES);
        entry->size = bytes_u64(item, ENTRY_STORED_BYTES);
        if (entry->size == 0)
            return image_refuse(why, -EBADMSG, "a bundle in the fatbin has an empty part");
        consider(choice, entry, bytes_u64(item, ENTRY_FLAGS));
    }
    return 0;
}

/* Takes one entry off the front of `rest`. */
static int visit_entry(struct choice *choice, struct bytes *rest, const struct image_reason *why) {
    struct fatbin_entry entry = {0};
    struct bytes header;
    if (!bytes_cut(*rest, 0, ENTRY_BYTES, &header))
        return image_refuse(why, -EBADMSG, "the last entry of the fatbin is cut short");
    uint32_t header_bytes = bytes_u32(header, ENTRY_HEADER_BYTES);
    uint64_t stored_bytes = bytes_u64(header, ENTRY_STORED_BYTES);
    if (header_bytes < ENTRY_BYTES || !bytes_cut(*rest, 0, header_bytes, &header) ||
        !bytes_cut(*rest, header_bytes, stored_bytes, &entry.stored))
        return image_refuse(why, -EBADMSG, "an entry of the fatbin reaches beyond its end");
    rest->data += header_bytes + stored_bytes;
    rest->size -= header_bytes + stored_bytes;

    entry.flags = bytes_u64(header, ENTRY_FLAGS);
    entry.unpacked = bytes_u64(header, ENTRY_UNPACKED_BYTES);
    uint32_t packed_bytes = bytes_u32(header, ENTRY_PACKED_BYTES);
    if ((entry.flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0 &&
        !bytes_cut(entry.stored, 0, packed_bytes, &entry.stored))
        return image_refuse(why, -EBADMSG, "a compressed entry of the fatbin is cut short");
    if (bytes_u16(header, ENTRY_KIND) == KIND_BUNDLE)
        return consider_bundle(choice, header, &entry, why);
    if (fill_entry(header, &entry))
        consider(choice, &entry, entry.flags);
    return 0;
}

int fatbin_choose(struct bytes fatbin, int device, struct fatbin_entry *best,
                  const struct image_reason *why) {
    struct choice choice = {.device = device, .seen = " nothing"};
    uint64_t extent;
    int error = fatbin_extent(fatbin, &extent, why);
    if (error != 0)
        return error;
    uint16_t header_bytes = bytes_u16(fatbin, 6);
    struct bytes rest;
    if (!bytes_cut(fatbin, header_bytes, extent - header_bytes, &rest))
        return image_refuse(why, -EBADMSG, "the fatbin is cut short: %zu of %llu bytes",
                            fatbin.size, (unsigned long long)extent);
    while (rest.size > 0) {
        error = visit_entry(&choice, &rest, why);
        if (error != 0)
            return error;
    }
    if (choice.rank == 0)
        return image_refuse(why, -ENOEXEC,
                            "the fatbin has no code for compute capability %d.%d, only:%s",
                            device / 10, device % 10, choice.seen);
    *best = choice.best;
    return 0;
}

int fatbin_unpack(const struct fatbin_entry *entry, struct bytes *content, void **owned,
                  const struct image_reason *why) {
    struct bytes whole = entry->stored;
    void *unpacked = NULL;
    if ((entry->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0) {
        enum image_compression compression = entry->flags & FLAG_LZ4 ? IMAGE_LZ4 : IMAGE_ZSTD;
        int error = image_decompress(compression, entry->stored, entry->unpacked, &unpacked, why);
        if (error != 0)
            return error;
        whole = (struct bytes){unpacked, entry->unpacked};
    }
    if (entry->size != 0 && !bytes_cut(whole, entry->offset, entry->size, &whole)) {
        free(unpacked);
        return image_refuse(why, -EBADMSG, "a part of a bundle in the fatbin is cut short");
    }
    *content = whole;
    *owned = unpacked;
    return 0;
}
