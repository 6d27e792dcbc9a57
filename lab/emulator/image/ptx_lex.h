/* PTX text to tokens. */
#ifndef NVSHARE_EMULATOR_IMAGE_PTX_LEX_H
#define NVSHARE_EMULATOR_IMAGE_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_token_kind {
    PTX_END,
    PTX_WORD,      /* a name, or an instruction with all its suffixes: ld.global.u32 */
    PTX_DIRECTIVE, /* a dot and one word: .entry, .u32 */
    PTX_NUMBER,
    PTX_STRING, /* without the quotes */
    PTX_MARK,   /* any other single character */
    PTX_BROKEN  /* a comment or string without an end */
};

struct ptx_token {
    enum ptx_token_kind kind;
    const char *text; /* within the PTX, not NUL-terminated */
    size_t length;
    unsigned line;
};

/* A copy of a lexer is a place to return to. */
struct ptx_lexer {
    const char *cursor, *end;
    unsigned line;
    struct ptx_token token; /* the current one */
};

/* Text ends at its first NUL, since PTX in a fatbin is padded with them. */
void ptx_lexer_start(struct ptx_lexer *lexer, const char *text, size_t size);
void ptx_next(struct ptx_lexer *lexer);

/* Whether the current token is exactly this; a string never is. */
bool ptx_is(const struct ptx_lexer *lexer, const char *text);

/* The value of a whole number: decimal, 0x, 0b or octal, with or without a final U. */
bool ptx_integer(const struct ptx_token *token, uint64_t *out);

#endif
