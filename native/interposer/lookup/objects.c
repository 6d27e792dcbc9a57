#include "objects.h"

#include <errno.h>
#include <string.h>

enum { DATA, CALLS };

/* glibc leaves absolute addresses in the dynamic section of a loaded object; others leave
 * offsets. */
static const void *at(const struct object *object, ElfW(Addr) address) {
    return (const void *)(address < object->base ? object->base + address : address);
}

/* The number of symbols is stored nowhere: it is where the last chain of the hash table ends. */
static size_t count_by_gnu_hash(const uint32_t *table) {
    uint32_t buckets = table[0], first = table[1], bloom_words = table[2];
    const uint32_t *bucket = table + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof *table);
    const uint32_t *chain = bucket + buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets; i++)
        if (bucket[i] > last)
            last = bucket[i];
    if (last < first)
        return first;
    while (!(chain[last - first] & 1))
        last++;
    return last + 1;
}

static void note(struct object *object, const ElfW(Dyn) * entry) {
    const void *address = at(object, entry->d_un.d_ptr);
    size_t size = entry->d_un.d_val;
    switch (entry->d_tag) {
    case DT_SYMTAB: object->symbols = address; break;
    case DT_STRTAB: object->strings = address; break;
    case DT_VERSYM: object->versions = address; break;
    case DT_HASH: object->symbol_count = ((const uint32_t *)address)[1]; break;
    case DT_GNU_HASH: object->symbol_count = count_by_gnu_hash(address); break;
    case DT_RELA: object->relocations[DATA] = address; break;
    case DT_RELASZ: object->relocation_count[DATA] = size / sizeof(ElfW(Rela)); break;
    case DT_JMPREL: object->relocations[CALLS] = address; break;
    case DT_PLTRELSZ: object->relocation_count[CALLS] = size / sizeof(ElfW(Rela)); break;
    default: break;
    }
}

int object_describe(const struct dl_phdr_info *info, struct object *object) {
    struct object found = {.name = info->dlpi_name ? info->dlpi_name : "",
                           .base = info->dlpi_addr,
                           .segments = info->dlpi_phdr,
                           .segment_count = info->dlpi_phnum};
    for (size_t i = 0; i < found.segment_count; i++)
        if (found.segments[i].p_type == PT_DYNAMIC) {
            const ElfW(Dyn) *entry = (const void *)(found.base + found.segments[i].p_vaddr);
            for (; entry->d_tag != DT_NULL; entry++)
                note(&found, entry);
        }
    /* The kernel's own object has its offsets as they were linked; nothing in it concerns us. */
    if (!found.symbols || !found.strings || !object_contains(&found, found.symbols))
        return -ENOEXEC;
    *object = found;
    return 0;
}

bool object_contains(const struct object *object, const void *address) {
    for (size_t i = 0; i < object->segment_count; i++) {
        const ElfW(Phdr) *segment = &object->segments[i];
        uintptr_t start = object->base + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && (uintptr_t)address - start < segment->p_memsz)
            return true;
    }
    return false;
}

bool object_is_function(const struct object *object, const ElfW(Sym) * symbol) {
    /* An old version, found only by callers that ask for it. */
    const ElfW(Half) hidden = 0x8000;
    size_t index = (size_t)(symbol - object->symbols);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
           (!object->versions || !(object->versions[index] & hidden));
}

void *object_function(const struct object *object, const char *name) {
    for (size_t i = 1; i < object->symbol_count; i++) {
        const ElfW(Sym) *symbol = &object->symbols[i];
        if (object_is_function(object, symbol) &&
            strcmp(object->strings + symbol->st_name, name) == 0)
            return (void *)(object->base + symbol->st_value);
    }
    return NULL;
}

bool object_is_pointer(const ElfW(Rela) * relocation) {
    switch (ELF64_R_TYPE(relocation->r_info)) {
#if defined(__x86_64__)
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT: return true;
#elif defined(__aarch64__)
    case R_AARCH64_ABS64:
    case R_AARCH64_GLOB_DAT:
    case R_AARCH64_JUMP_SLOT: return true;
#else
#error "the relocations of this machine are not known"
#endif
    default: return false;
    }
}
