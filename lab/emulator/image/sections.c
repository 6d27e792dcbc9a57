/* Opens an ELF64 file of untrusted content. */
#include "sections.h"

#include <errno.h>

#ifndef EM_CUDA
#define EM_CUDA 190
#endif

static int check_header(const Elf64_Ehdr *header, const struct image_reason *why) {
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return image_refuse(why, -EBADMSG, "the ELF file is not a 64-bit little-endian one");
    if (header->e_machine != EM_CUDA)
        return image_refuse(why, -EBADMSG, "the ELF file is for machine %u, not for a GPU",
                            header->e_machine);
    if (header->e_shentsize != sizeof(Elf64_Shdr))
        return image_refuse(why, -EBADMSG, "the section table of the ELF file is damaged");
    return 0;
}

Elf64_Shdr sections_get(const struct sections *sections, uint32_t index) {
    Elf64_Shdr section;
    const uint8_t *table = sections->file.data + sections->header.e_shoff;
    memcpy(&section, table + (size_t)index * sizeof section, sizeof section);
    return section;
}

Elf64_Sym sections_symbol(const struct sections *sections, uint32_t index) {
    Elf64_Sym symbol;
    memcpy(&symbol, sections->symbols.data + (size_t)index * sizeof symbol, sizeof symbol);
    return symbol;
}

static const char *name_at(struct bytes names, uint32_t offset) {
    return offset < names.size ? (const char *)names.data + offset : "";
}

const char *sections_name(const struct sections *sections, const Elf64_Shdr *section) {
    return name_at(sections->names, section->sh_name);
}

const char *sections_symbol_name(const struct sections *sections, const Elf64_Sym *symbol) {
    return name_at(sections->symbol_names, symbol->st_name);
}

bool sections_content(const struct sections *sections, const Elf64_Shdr *section,
                      struct bytes *out) {
    if (section->sh_type == SHT_NOBITS)
        return false;
    return bytes_cut(sections->file, section->sh_offset, section->sh_size, out);
}

/* A table of names ends with a NUL, so every name in it does; this is checked once. */
static bool open_names(const struct sections *sections, uint32_t index, struct bytes *out) {
    if (index >= sections->count)
        return false;
    Elf64_Shdr section = sections_get(sections, index);
    return sections_content(sections, &section, out) && out->size > 0 &&
           out->data[out->size - 1] == '\0';
}

static int open_symbols(struct sections *sections, const struct image_reason *why) {
    for (uint32_t i = 0; i < sections->count; i++) {
        Elf64_Shdr table = sections_get(sections, i);
        if (table.sh_type != SHT_SYMTAB)
            continue;
        if (!sections_content(sections, &table, &sections->symbols) ||
            !open_names(sections, table.sh_link, &sections->symbol_names))
            break;
        size_t count = sections->symbols.size / sizeof(Elf64_Sym);
        sections->symbol_count = count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
        return 0;
    }
    return image_refuse(why, -EBADMSG, "the ELF file has no readable symbol table");
}

int sections_open(struct bytes file, struct sections *out, const struct image_reason *why) {
    struct sections sections = {.file = file};
    struct bytes table;
    if (file.size < sizeof sections.header)
        return image_refuse(why, -EBADMSG, "the ELF file is shorter than its header");
    memcpy(&sections.header, file.data, sizeof sections.header);
    int error = check_header(&sections.header, why);
    if (error != 0)
        return error;
    sections.count = sections.header.e_shnum;
    uint64_t table_bytes = (uint64_t)sections.count * sizeof(Elf64_Shdr);
    if (!bytes_cut(file, sections.header.e_shoff, table_bytes, &table))
        return image_refuse(why, -EBADMSG, "the section table of the ELF file is cut short");
    if (!open_names(&sections, sections.header.e_shstrndx, &sections.names))
        return image_refuse(why, -EBADMSG, "the ELF file has no names for its sections");
    error = open_symbols(&sections, why);
    if (error == 0)
        *out = sections;
    return error;
}

int sections_extent(const uint8_t *data, size_t *size, const struct image_reason *why) {
    struct sections sections = {.file = {data, 0}};
    memcpy(&sections.header, data, sizeof sections.header);
    int error = check_header(&sections.header, why);
    if (error != 0)
        return error;
    uint64_t table = (uint64_t)sections.header.e_shnum * sizeof(Elf64_Shdr);
    if (sections.header.e_shoff > IMAGE_BYTES_MAX)
        return image_refuse(why, -EBADMSG,
                            "the section table of the ELF file lies outside of the file");
    uint64_t end = sections.header.e_shoff + table;
    for (uint32_t i = 0; i < sections.header.e_shnum; i++) {
        Elf64_Shdr section = sections_get(&sections, i);
        if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL)
            continue;
        if (section.sh_offset > IMAGE_BYTES_MAX || section.sh_size > IMAGE_BYTES_MAX)
            return image_refuse(why, -EBADMSG,
                                "section %u of the ELF file lies outside of the file", i);
        if (section.sh_offset + section.sh_size > end)
            end = section.sh_offset + section.sh_size;
    }
    *size = end;
    return 0;
}
