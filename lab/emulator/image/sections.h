/* A checked view of an ELF64 file: sections, symbols and their names. Knows nothing of CUDA beyond
 * the machine number. */
#ifndef NVSHARE_EMULATOR_IMAGE_SECTIONS_H
#define NVSHARE_EMULATOR_IMAGE_SECTIONS_H

#include <elf.h>

#include "build.h"
#include "bytes.h"

struct sections {
    struct bytes file;
    Elf64_Ehdr header;
    struct bytes names; /* of sections */
    uint32_t count;
    struct bytes symbols, symbol_names;
    uint32_t symbol_count;
};

int sections_open(struct bytes file, struct sections *out, const struct image_reason *why);

/* The size of a file whose address alone is known. */
int sections_extent(const uint8_t *data, size_t *size, const struct image_reason *why);

/* The caller checks the indices against the counts. */
Elf64_Shdr sections_get(const struct sections *sections, uint32_t index);
Elf64_Sym sections_symbol(const struct sections *sections, uint32_t index);

/* Never NULL: a name that lies outside of its table is the empty string. */
const char *sections_name(const struct sections *sections, const Elf64_Shdr *section);
const char *sections_symbol_name(const struct sections *sections, const Elf64_Sym *symbol);

/* The bytes of a section; false if they lie outside of the file, or it has none. */
bool sections_content(const struct sections *sections, const Elf64_Shdr *section,
                      struct bytes *out);

#endif
