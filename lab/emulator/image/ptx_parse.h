/* Types and functions that the parts of the PTX reader share. */
#ifndef NVSHARE_EMULATOR_IMAGE_PTX_PARSE_H
#define NVSHARE_EMULATOR_IMAGE_PTX_PARSE_H

#include "build.h"
#include "ptx_lex.h"

/* One variable or parameter: ".align 8 .v2 .f32 name[4][4]". */
enum { PTX_DIMENSIONS_MAX = 8 };
struct ptx_declaration {
    struct ptx_token name;
    uint32_t element; /* bytes of one number */
    uint64_t align;
    bool floating; /* .f32 or .f64, whose initial values are not integers */
    bool opaque;   /* a texture, surface or sampler */
    bool unsized;  /* the first dimension is left to the initial value, or to the launch */
    uint32_t lanes;
    unsigned dimension_count;
    uint64_t dimensions[PTX_DIMENSIONS_MAX];
    uint64_t bytes;
};

/* Shared memory of the module, and the last kernel that was seen to use it. */
struct ptx_shared {
    struct ptx_declaration declaration;
    size_t reader; /* 0: none */
};

struct ptx {
    struct ptx_lexer lexer; /* kept one token ahead */
    struct image *image;
    const struct image_reason *why;
    int device, target;
    uint64_t constant_bytes; /* of all .const variables so far */
    uint64_t initial_bytes;  /* of all initial values so far */
    struct ptx_shared *shared;
    size_t shared_count;
};

/* -EINVAL, with the line, the expected text and the text found. */
int ptx_expected(const struct ptx *ptx, const char *what);

/* Consumes this token or refuses. */
int ptx_expect(struct ptx *ptx, const char *text);

/* Consumes everything up to and including this mark, passing over nested brackets. */
int ptx_skip_past(struct ptx *ptx, const char *mark);

/* ptx_declaration.c: the type is shared by the names of one list: ".u32 a, b[2]". */
int ptx_parse_type(struct ptx *ptx, struct ptx_declaration *declaration);
int ptx_parse_name(struct ptx *ptx, struct ptx_declaration *declaration);

/* Places a declaration after the previous one; *end moves past it. */
int ptx_place(const struct ptx *ptx, const struct ptx_declaration *declaration, uint64_t *end,
              uint64_t *offset);

/* ptx_initial.c: the value after "=". The caller frees *out. An unsized array gets its size
 * here. */
int ptx_parse_initial(struct ptx *ptx, struct ptx_declaration *declaration, void **out);

/* ptx_shared.c: the text after ".shared" outside of an entry, and a word inside one. */
int ptx_parse_shared(struct ptx *ptx);
int ptx_count_shared(struct ptx *ptx, struct image_kernel *kernel);

/* ptx_entry.c: the text after ".entry". */
int ptx_parse_entry(struct ptx *ptx);

/* ptx_pragma.c: the text after ".pragma". */
int ptx_parse_pragma(struct ptx *ptx, struct image_kernel *kernel);

#endif
