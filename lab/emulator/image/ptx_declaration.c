/* Types, names and sizes of PTX variables and parameters. */
#include "ptx_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No address space is larger, and sums of a few such sizes do not overflow. */
#define VARIABLE_BYTES_MAX ((uint64_t)1 << 48)
#define ALIGN_MAX          ((uint64_t)1 << 20)

static const struct type {
    const char *name;
    uint32_t bytes;
    bool floating, opaque;
} types[] = {
    {".b8", 1, false, false},        {".u8", 1, false, false},     {".s8", 1, false, false},
    {".b16", 2, false, false},       {".u16", 2, false, false},    {".s16", 2, false, false},
    {".f16", 2, false, false},       {".bf16", 2, false, false},   {".b32", 4, false, false},
    {".u32", 4, false, false},       {".s32", 4, false, false},    {".f32", 4, true, false},
    {".f16x2", 4, false, false},     {".bf16x2", 4, false, false}, {".b64", 8, false, false},
    {".u64", 8, false, false},       {".s64", 8, false, false},    {".f64", 8, true, false},
    {".b128", 16, false, false},     {".texref", 8, false, true},  {".surfref", 8, false, true},
    {".samplerref", 8, false, true},
};

static const struct type *find_type(const struct ptx_lexer *lexer) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (ptx_is(lexer, types[i].name))
            return &types[i];
    return NULL;
}

static int parse_align(struct ptx *ptx, uint64_t *align) {
    uint64_t value;
    ptx_next(&ptx->lexer);
    if (!ptx_integer(&ptx->lexer.token, &value) || value == 0 || value > ALIGN_MAX ||
        (value & (value - 1)) != 0)
        return ptx_expected(ptx, "an alignment that is a power of two");
    ptx_next(&ptx->lexer);
    *align = value;
    return 0;
}

/* ".attribute(.managed)" and the like change nothing about the layout. */
static int skip_attribute(struct ptx *ptx) {
    ptx_next(&ptx->lexer);
    int error = ptx_expect(ptx, "(");
    return error != 0 ? error : ptx_skip_past(ptx, ")");
}

/* One word of a type. After .ptr, spaces and alignments describe the target of the pointer. */
static int parse_type_word(struct ptx *ptx, struct ptx_declaration *declaration, bool *pointee) {
    static const char *const spaces[] = {".global", ".const", ".shared", ".local", ".param"};
    const struct type *type = find_type(&ptx->lexer);
    uint64_t ignored;
    if (ptx_is(&ptx->lexer, ".align"))
        return parse_align(ptx, *pointee ? &ignored : &declaration->align);
    if (ptx_is(&ptx->lexer, ".attribute"))
        return skip_attribute(ptx);
    bool known = true;
    if (type != NULL) {
        declaration->element = type->bytes;
        declaration->floating = type->floating;
        declaration->opaque = type->opaque;
    } else if (ptx_is(&ptx->lexer, ".v2")) {
        declaration->lanes = 2;
    } else if (ptx_is(&ptx->lexer, ".v4")) {
        declaration->lanes = 4;
    } else if (ptx_is(&ptx->lexer, ".ptr")) {
        *pointee = true;
    } else {
        known = false;
        for (size_t i = 0; *pointee && i < sizeof spaces / sizeof *spaces; i++)
            known = known || ptx_is(&ptx->lexer, spaces[i]);
    }
    if (!known)
        return ptx_expected(ptx, "a type");
    ptx_next(&ptx->lexer);
    return 0;
}

int ptx_parse_type(struct ptx *ptx, struct ptx_declaration *declaration) {
    struct ptx_declaration parsed = {.lanes = 1};
    bool pointee = false;
    while (ptx->lexer.token.kind == PTX_DIRECTIVE) {
        int error = parse_type_word(ptx, &parsed, &pointee);
        if (error != 0)
            return error;
    }
    if (parsed.element == 0)
        return ptx_expected(ptx, "a type");
    uint64_t natural = (uint64_t)parsed.element * parsed.lanes;
    if (parsed.align == 0)
        parsed.align = natural;
    *declaration = parsed;
    return 0;
}

static int add_dimension(struct ptx *ptx, struct ptx_declaration *declaration, uint64_t size) {
    if (declaration->dimension_count == PTX_DIMENSIONS_MAX)
        return ptx_expected(ptx, "fewer dimensions");
    if (size > VARIABLE_BYTES_MAX ||
        (declaration->bytes != 0 && size > VARIABLE_BYTES_MAX / declaration->bytes))
        return ptx_expected(ptx, "a smaller array");
    declaration->dimensions[declaration->dimension_count++] = size;
    declaration->bytes *= size;
    return 0;
}

/* "[12]", or "[]" as the first of its kind. */
static int parse_dimension(struct ptx *ptx, struct ptx_declaration *declaration) {
    uint64_t size = 1;
    ptx_next(&ptx->lexer);
    if (ptx_is(&ptx->lexer, "]") && declaration->dimension_count == 0)
        declaration->unsized = true;
    else if (!ptx_integer(&ptx->lexer.token, &size))
        return ptx_expected(ptx, "the size of an array");
    else
        ptx_next(&ptx->lexer);
    int error = add_dimension(ptx, declaration, size);
    return error != 0 ? error : ptx_expect(ptx, "]");
}

int ptx_parse_name(struct ptx *ptx, struct ptx_declaration *declaration) {
    if (ptx->lexer.token.kind != PTX_WORD)
        return ptx_expected(ptx, "a name");
    declaration->name = ptx->lexer.token;
    declaration->bytes = declaration->element;
    declaration->dimension_count = 0;
    declaration->unsized = false;
    ptx_next(&ptx->lexer);
    while (ptx_is(&ptx->lexer, "[")) {
        int error = parse_dimension(ptx, declaration);
        if (error != 0)
            return error;
    }
    /* The lanes of a vector are laid out like one more, innermost dimension. */
    return declaration->lanes > 1 ? add_dimension(ptx, declaration, declaration->lanes) : 0;
}

int ptx_place(const struct ptx *ptx, const struct ptx_declaration *declaration, uint64_t *end,
              uint64_t *offset) {
    uint64_t start = (*end + declaration->align - 1) & ~(declaration->align - 1);
    if (start + declaration->bytes > VARIABLE_BYTES_MAX)
        return ptx_expected(ptx, "smaller variables");
    *offset = start;
    *end = start + declaration->bytes;
    return 0;
}
