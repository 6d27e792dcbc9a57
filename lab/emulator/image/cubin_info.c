/* Parameter layout and launch bounds of a kernel, from its .nv.info section.
 *
 * A record is u8 format, u8 attribute, u16 value. In format 4 the value is the size of a payload
 * that follows; in the others it is the value itself.
 */
#include "cubin_info.h"

#include <errno.h>
#include <stdlib.h>

enum { RECORD_BYTES = 4, FORMAT_WITH_PAYLOAD = 4, PARAMETER_PAYLOAD_BYTES = 12 };
enum {
    MAX_THREADS = 0x05,
    REQUIRED_THREADS = 0x10,
    PARAMETER = 0x17,       /* u32 index, u16 ordinal, u16 offset, u32 with the size above bit 18 */
    PARAMETER_TOTAL = 0x19, /* in place */
    LARGE_PARAMETER = 0x45  /* as PARAMETER, with a plain u32 size */
};

/* Parameters come in any order, so they are put at their ordinals. A gap has a size of 0. */
struct layout {
    struct image_parameter *parameters;
    uint32_t capacity, count;
    uint32_t end;
};

bool cubin_next_record(struct bytes *rest, struct cubin_record *out) {
    struct bytes head;
    if (!bytes_cut(*rest, 0, RECORD_BYTES, &head))
        return false;
    struct cubin_record record = {.attribute = head.data[1], .value = bytes_u16(head, 2)};
    size_t payload = head.data[0] == FORMAT_WITH_PAYLOAD ? record.value : 0;
    if (!bytes_cut(*rest, RECORD_BYTES, payload, &record.payload))
        return false;
    rest->data += RECORD_BYTES + payload;
    rest->size -= RECORD_BYTES + payload;
    *out = record;
    return true;
}

/* Up to three dimensions; the missing ones are 1. */
static void read_dimensions(struct bytes payload, uint32_t dimensions[3]) {
    for (size_t i = 0; i < 3; i++)
        dimensions[i] = payload.size >= (i + 1) * 4 ? bytes_u32(payload, i * 4) : 1;
}

static void apply_threads(const struct cubin_record *record, struct image_kernel *kernel) {
    uint32_t dimensions[3];
    read_dimensions(record->payload, dimensions);
    kernel->max_threads = image_block_threads(dimensions);
    if (record->attribute != REQUIRED_THREADS)
        return;
    for (int i = 0; i < 3; i++)
        kernel->required_threads[i] = (int)(dimensions[i] & INT32_MAX);
}

static bool place_parameter(const struct cubin_record *record, struct layout *layout) {
    struct bytes payload = record->payload;
    if (payload.size < PARAMETER_PAYLOAD_BYTES)
        return false;
    uint16_t ordinal = bytes_u16(payload, 4), offset = bytes_u16(payload, 6);
    uint32_t size = bytes_u32(payload, 8);
    if (record->attribute == PARAMETER)
        size >>= 18;
    if (ordinal >= layout->capacity || size == 0 || size > IMAGE_PARAMETER_BYTES_MAX)
        return false;
    layout->parameters[ordinal] = (struct image_parameter){offset, size};
    if (ordinal >= layout->count)
        layout->count = ordinal + 1u;
    if (offset + size > layout->end)
        layout->end = offset + size;
    return true;
}

static bool apply(const struct cubin_record *record, struct image_kernel *kernel,
                  struct layout *layout) {
    switch (record->attribute) {
    case PARAMETER:
    case LARGE_PARAMETER: return place_parameter(record, layout);
    case PARAMETER_TOTAL: kernel->parameter_bytes = record->value; return true;
    case MAX_THREADS:
    case REQUIRED_THREADS: apply_threads(record, kernel); return true;
    default: return true;
    }
}

static bool layout_is_sound(const struct layout *layout, const struct image_kernel *kernel) {
    for (uint32_t i = 0; i < layout->count; i++)
        if (layout->parameters[i].size == 0)
            return false;
    uint32_t total = kernel->parameter_bytes != 0 ? kernel->parameter_bytes : layout->end;
    return layout->end <= total && total <= IMAGE_PARAMETER_BYTES_MAX;
}

static bool read_records(struct bytes rest, struct image_kernel *kernel, struct layout *layout) {
    struct cubin_record record;
    while (rest.size > 0)
        if (!cubin_next_record(&rest, &record) || !apply(&record, kernel, layout))
            return false;
    return layout_is_sound(layout, kernel);
}

int cubin_read_kernel_info(struct bytes section, struct image_kernel *kernel,
                           const struct image_reason *why) {
    /* Every parameter has its own record, so the size of the section bounds their number. */
    size_t most = section.size / (RECORD_BYTES + PARAMETER_PAYLOAD_BYTES);
    struct layout layout = {.capacity = most < UINT16_MAX ? (uint32_t)most : UINT16_MAX};
    layout.parameters = calloc(layout.capacity + 1u, sizeof *layout.parameters);
    if (layout.parameters == NULL)
        return -ENOMEM;
    if (kernel->parameters != NULL || !read_records(section, kernel, &layout)) {
        free(layout.parameters);
        return image_refuse(why, -EBADMSG, "the parameter records of kernel %s are damaged",
                            kernel->name);
    }
    if (kernel->parameter_bytes == 0)
        kernel->parameter_bytes = layout.end;
    kernel->parameters = layout.parameters;
    kernel->parameter_count = layout.count;
    return 0;
}
