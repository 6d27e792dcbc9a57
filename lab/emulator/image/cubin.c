/* Kernels and globals of a cubin.
 *
 * Kernel X is the entry symbol X in section .text.X; .nv.info.X and .nv.shared.X name that section
 * by its index. The layout was derived from the output of ptxas 11.8, 12.4 and 13.4.
 */
#include "cubin.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "cubin_info.h"
#include "sections.h"

enum { ABI_CLASSIC = 0x33, ABI_CUDA_13 = 0x41 };
enum { CLASSIC_SPECIFIC = 0x800, COMPATIBILITY_SPECIFIC = 0x09 };
enum { SYMBOL_ENTRY = 0x10 };

/* From 9.0 on, the shared memory of a kernel begins with a part reserved for the system, which does
 * not count as the kernel's own. */
enum { RESERVED_SHARED_FROM = 90, RESERVED_SHARED_BYTES = 1024 };

struct cubin {
    struct sections sections;
    struct image *image;
    const struct image_reason *why;
    int architecture, virtual_architecture;
    bool specific;
    int constant_bytes;
    uint64_t budget;   /* see spend */
    size_t *kernel_of; /* by section index: kernel index + 1, or 0 */
};

int cubin_extent(const uint8_t *data, size_t *size, const struct image_reason *why) {
    return sections_extent(data, size, why);
}

static bool has_prefix(const char *name, const char *prefix) {
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static int clamp(uint64_t value) {
    return value > INT_MAX ? INT_MAX : (int)value;
}

/* In a valid file names and variables do not overlap, so copies of them are not much larger than
 * the file. A file in which thousands of symbols share one large piece is meant to exhaust
 * memory. */
static int spend(struct cubin *cubin, uint64_t bytes) {
    if (bytes > cubin->budget)
        return image_refuse(cubin->why, -EBADMSG, "the symbols of the cubin overlap");
    cubin->budget -= bytes;
    return 0;
}

static bool find_section(const struct sections *sections, const char *name, Elf64_Shdr *out) {
    for (uint32_t i = 0; i < sections->count; i++) {
        Elf64_Shdr section = sections_get(sections, i);
        if (strcmp(sections_name(sections, &section), name) == 0) {
            *out = section;
            return true;
        }
    }
    return false;
}

static bool find_content(const struct sections *sections, const char *name, struct bytes *out) {
    Elf64_Shdr section;
    return find_section(sections, name, &section) && sections_content(sections, &section, out);
}

/* CUDA 13 keeps the PTX version in a note: three u32 of header, the padded owner, then u16 version
 * of the note, u16 PTX architecture. */
static int noted_architecture(const struct sections *sections) {
    struct bytes note, description;
    if (!find_content(sections, ".note.nv.cuinfo", &note) || note.size < 12)
        return 0;
    uint64_t owner = ((uint64_t)bytes_u32(note, 0) + 3) & ~(uint64_t)3;
    if (!bytes_cut(note, 12 + owner, 4, &description))
        return 0;
    return bytes_u16(description, 2);
}

/* CUDA 13 marks architecture-specific code by a record. */
static bool noted_specific(const struct sections *sections) {
    struct bytes records;
    struct cubin_record record;
    if (!find_content(sections, ".nv.compat", &records))
        return false;
    while (cubin_next_record(&records, &record))
        if (record.attribute == COMPATIBILITY_SPECIFIC)
            return (record.value & 0xff) != 0;
    return false;
}

static int read_architecture(struct cubin *cubin) {
    uint32_t flags = cubin->sections.header.e_flags;
    switch (cubin->sections.header.e_ident[EI_OSABI]) {
    case ABI_CLASSIC:
        cubin->architecture = flags & 0xff;
        cubin->virtual_architecture = flags >> 16 & 0xff;
        cubin->specific = (flags & CLASSIC_SPECIFIC) != 0;
        return 0;
    case ABI_CUDA_13:
        cubin->architecture = flags >> 8 & 0xff;
        cubin->virtual_architecture = noted_architecture(&cubin->sections);
        cubin->specific = noted_specific(&cubin->sections);
        return 0;
    default:
        return image_refuse(cubin->why, -ENOTSUP, "the cubin has an unknown layout (ABI %#x)",
                            cubin->sections.header.e_ident[EI_OSABI]);
    }
}

static int check_architecture(const struct cubin *cubin, int device) {
    if (image_binary_fits(cubin->architecture, cubin->specific, device))
        return 0;
    return image_refuse(cubin->why, -ENOEXEC,
                        "the cubin is for sm_%d%s, which does not run on compute capability %d.%d",
                        cubin->architecture, cubin->specific ? "a" : "", device / 10, device % 10);
}

static int add_kernel(struct cubin *cubin, const char *name, uint32_t section) {
    struct image_kernel kernel = {
        .ptx_version = cubin->virtual_architecture,
        .binary_version = cubin->architecture,
        .constant_bytes = cubin->constant_bytes,
    };
    int error = spend(cubin, strlen(name));
    if (error == 0)
        error = image_copy_name(name, strlen(name), &kernel.name);
    if (error != 0)
        return error;
    error = image_take_kernel(cubin->image, &kernel);
    if (error != 0)
        image_kernel_release(&kernel);
    else
        cubin->kernel_of[section] = cubin->image->kernel_count;
    return error;
}

/* The initial bytes of a variable, or NULL if it starts with zeros. */
static int copy_initial(struct cubin *cubin, const Elf64_Sym *symbol, const Elf64_Shdr *section,
                        void **out) {
    struct bytes content, initial;
    *out = NULL;
    if (section->sh_type == SHT_NOBITS || symbol->st_size == 0)
        return 0;
    if (!sections_content(&cubin->sections, section, &content) ||
        !bytes_cut(content, symbol->st_value, symbol->st_size, &initial))
        return image_refuse(cubin->why, -EBADMSG, "a section with variables is cut short");
    int error = spend(cubin, initial.size);
    if (error != 0)
        return error;
    *out = malloc(initial.size);
    if (*out == NULL)
        return -ENOMEM;
    memcpy(*out, initial.data, initial.size);
    return 0;
}

static int add_global(struct cubin *cubin, const char *name, const Elf64_Sym *symbol,
                      const Elf64_Shdr *section) {
    struct image_global global = {.bytes = symbol->st_size};
    void *initial;
    if (symbol->st_value > section->sh_size ||
        symbol->st_size > section->sh_size - symbol->st_value)
        return image_refuse(cubin->why, -EBADMSG, "variable %s lies outside of its section", name);
    int error = copy_initial(cubin, symbol, section, &initial);
    if (error != 0)
        return error;
    global.initial = initial;
    error = spend(cubin, strlen(name));
    if (error == 0)
        error = image_copy_name(name, strlen(name), &global.name);
    if (error == 0)
        error = image_take_global(cubin->image, &global);
    if (error != 0) {
        free(global.name);
        free(initial);
    }
    return error;
}

static bool holds_globals(const char *section_name) {
    return strcmp(section_name, ".nv.global") == 0 ||
           strcmp(section_name, ".nv.global.init") == 0 ||
           strcmp(section_name, ".nv.constant3") == 0;
}

static int read_symbol(struct cubin *cubin, const Elf64_Sym *symbol) {
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= cubin->sections.count)
        return 0;
    Elf64_Shdr section = sections_get(&cubin->sections, symbol->st_shndx);
    const char *section_name = sections_name(&cubin->sections, &section);
    const char *name = sections_symbol_name(&cubin->sections, symbol);
    switch (ELF64_ST_TYPE(symbol->st_info)) {
    case STT_FUNC:
        if ((symbol->st_other & SYMBOL_ENTRY) == 0 || !has_prefix(section_name, ".text.") ||
            name[0] == '\0' || cubin->kernel_of[symbol->st_shndx] != 0)
            return 0;
        return add_kernel(cubin, name, symbol->st_shndx);
    case STT_OBJECT:
        if (name[0] == '\0' || !holds_globals(section_name))
            return 0;
        return add_global(cubin, name, symbol, &section);
    default: return 0;
    }
}

static int read_kernel_section(struct cubin *cubin, const Elf64_Shdr *section, const char *name,
                               struct image_kernel *kernel) {
    struct bytes content;
    if (has_prefix(name, ".nv.shared.")) {
        uint64_t reserved = cubin->architecture >= RESERVED_SHARED_FROM ? RESERVED_SHARED_BYTES : 0;
        kernel->shared_bytes = clamp(section->sh_size > reserved ? section->sh_size - reserved : 0);
        return 0;
    }
    if (!has_prefix(name, ".nv.info."))
        return 0;
    if (!sections_content(&cubin->sections, section, &content))
        return image_refuse(cubin->why, -EBADMSG, "section %s is cut short", name);
    return cubin_read_kernel_info(content, kernel, cubin->why);
}

static int read_kernel_sections(struct cubin *cubin) {
    for (uint32_t i = 0; i < cubin->sections.count; i++) {
        Elf64_Shdr section = sections_get(&cubin->sections, i);
        if (section.sh_info >= cubin->sections.count || cubin->kernel_of[section.sh_info] == 0)
            continue;
        struct image_kernel *kernel = &cubin->image->kernels[cubin->kernel_of[section.sh_info] - 1];
        const char *name = sections_name(&cubin->sections, &section);
        int error = read_kernel_section(cubin, &section, name, kernel);
        if (error != 0)
            return error;
    }
    return 0;
}

/* The kernel that a record of .nv.info is about; NULL for a device function. */
static struct image_kernel *kernel_of_symbol(const struct cubin *cubin, uint32_t index) {
    if (index >= cubin->sections.symbol_count)
        return NULL;
    Elf64_Sym symbol = sections_symbol(&cubin->sections, index);
    if ((symbol.st_other & SYMBOL_ENTRY) == 0 || symbol.st_shndx >= cubin->sections.count ||
        cubin->kernel_of[symbol.st_shndx] == 0)
        return NULL;
    return &cubin->image->kernels[cubin->kernel_of[symbol.st_shndx] - 1];
}

static void apply_module_record(const struct cubin *cubin, const struct cubin_record *record) {
    if (record->payload.size < 8)
        return;
    struct image_kernel *kernel = kernel_of_symbol(cubin, bytes_u32(record->payload, 0));
    if (kernel == NULL)
        return;
    int value = clamp(bytes_u32(record->payload, 4));
    if (record->attribute == CUBIN_REGISTERS)
        kernel->registers = value;
    /* The stack includes the needs of called functions. A frame record exists even without it. */
    if ((record->attribute == CUBIN_FRAME_BYTES || record->attribute == CUBIN_STACK_BYTES) &&
        value > kernel->local_bytes)
        kernel->local_bytes = value;
}

static int read_module_info(const struct cubin *cubin) {
    struct bytes rest;
    struct cubin_record record;
    if (!find_content(&cubin->sections, ".nv.info", &rest))
        return 0;
    while (rest.size > 0) {
        if (!cubin_next_record(&rest, &record))
            return image_refuse(cubin->why, -EBADMSG, "the records of the cubin are damaged");
        apply_module_record(cubin, &record);
    }
    return 0;
}

static int read_content(struct cubin *cubin) {
    Elf64_Shdr constants;
    if (find_section(&cubin->sections, ".nv.constant3", &constants))
        cubin->constant_bytes = clamp(constants.sh_size);
    for (uint32_t i = 0; i < cubin->sections.symbol_count; i++) {
        Elf64_Sym symbol = sections_symbol(&cubin->sections, i);
        int error = read_symbol(cubin, &symbol);
        if (error != 0)
            return error;
    }
    int error = read_kernel_sections(cubin);
    return error != 0 ? error : read_module_info(cubin);
}

int cubin_read(struct bytes file, int device, struct image *image, const struct image_reason *why) {
    struct cubin cubin = {.image = image, .why = why, .budget = 4 * (uint64_t)file.size};
    int error = sections_open(file, &cubin.sections, why);
    if (error == 0)
        error = read_architecture(&cubin);
    if (error == 0)
        error = check_architecture(&cubin, device);
    if (error != 0)
        return error;
    cubin.kernel_of = calloc(cubin.sections.count, sizeof *cubin.kernel_of);
    if (cubin.kernel_of == NULL)
        return -ENOMEM;
    error = read_content(&cubin);
    free(cubin.kernel_of);
    return error;
}
