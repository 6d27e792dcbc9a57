/* Loaded ELF objects: their symbols, and the places that point at them. Knows nothing of CUDA. */
#ifndef NVSHARE_OBJECTS_H
#define NVSHARE_OBJECTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object {
    const char *name; /* the path it was loaded from; "" for the program */
    uintptr_t base;
    const ElfW(Phdr) * segments;
    size_t segment_count;
    const ElfW(Sym) * symbols;
    size_t symbol_count;
    const ElfW(Half) * versions; /* or NULL */
    const char *strings;
    const ElfW(Rela) * relocations[2]; /* of data, and of calls */
    size_t relocation_count[2];
};

/* Describes an object that dl_iterate_phdr shows. Returns 0, or -ENOEXEC if it has no symbols. */
int object_describe(const struct dl_phdr_info *info, struct object *object);

bool object_contains(const struct object *object, const void *address);

/* The address of a function that an object defines, or NULL. With several versions: the default. */
void *object_function(const struct object *object, const char *name);

/* Whether a symbol is a function that other objects can find. */
bool object_is_function(const struct object *object, const ElfW(Sym) * symbol);

/* Whether a relocation made its word the address of a symbol. */
bool object_is_pointer(const ElfW(Rela) * relocation);

#endif
