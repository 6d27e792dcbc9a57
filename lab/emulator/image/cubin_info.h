/* The records in the .nv.info sections of a cubin. */
#ifndef NVSHARE_EMULATOR_IMAGE_CUBIN_INFO_H
#define NVSHARE_EMULATOR_IMAGE_CUBIN_INFO_H

#include "build.h"
#include "bytes.h"

struct cubin_record {
    uint8_t attribute;
    uint16_t value;       /* of a record that carries its value in place */
    struct bytes payload; /* of the others */
};

/* Takes one record off the front of `rest`; false if it is damaged. */
bool cubin_next_record(struct bytes *rest, struct cubin_record *out);

/* Applies .nv.info.<kernel> to its kernel. */
int cubin_read_kernel_info(struct bytes section, struct image_kernel *kernel,
                           const struct image_reason *why);

/* Attributes of the module-wide .nv.info; each payload is u32 symbol, u32 value. */
enum { CUBIN_FRAME_BYTES = 0x11, CUBIN_STACK_BYTES = 0x12, CUBIN_REGISTERS = 0x2f };

#endif
