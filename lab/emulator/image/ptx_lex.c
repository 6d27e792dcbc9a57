/* Tokens of PTX. Dots determine the kind of a token: they join the parts of an instruction and
 * begin a directive, so ".shared" is a declaration and "ld.shared.u32" is not. */
#include "ptx_lex.h"

#include <string.h>

/* The C library's own tests follow the locale of the host program. */
static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' ||
           c == '$' || c == '%';
}

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The character `ahead` of the cursor; a NUL at the end. */
static char look(const struct ptx_lexer *lexer, size_t ahead) {
    return (size_t)(lexer->end - lexer->cursor) > ahead ? lexer->cursor[ahead] : '\0';
}

static void step(struct ptx_lexer *lexer) {
    if (*lexer->cursor == '\n')
        lexer->line++;
    lexer->cursor++;
}

/* Skips a block comment; false if it has no end. */
static bool skip_block_comment(struct ptx_lexer *lexer) {
    lexer->cursor += 2;
    while (lexer->cursor < lexer->end) {
        if (look(lexer, 0) == '*' && look(lexer, 1) == '/') {
            lexer->cursor += 2;
            return true;
        }
        step(lexer);
    }
    return false;
}

static bool skip_blanks(struct ptx_lexer *lexer) {
    while (lexer->cursor < lexer->end) {
        if (is_space(look(lexer, 0))) {
            step(lexer);
        } else if (look(lexer, 0) == '/' && look(lexer, 1) == '/') {
            while (lexer->cursor < lexer->end && look(lexer, 0) != '\n')
                lexer->cursor++;
        } else if (look(lexer, 0) == '/' && look(lexer, 1) == '*') {
            if (!skip_block_comment(lexer))
                return false;
        } else {
            return true;
        }
    }
    return true;
}

static void finish(struct ptx_lexer *lexer, enum ptx_token_kind kind, const char *start) {
    lexer->token.kind = kind;
    lexer->token.text = start;
    lexer->token.length = (size_t)(lexer->cursor - start);
}

static void take_string(struct ptx_lexer *lexer) {
    const char *start = ++lexer->cursor;
    while (lexer->cursor < lexer->end && look(lexer, 0) != '"') {
        if (look(lexer, 0) == '\\' && look(lexer, 1) == '"')
            lexer->cursor++;
        step(lexer);
    }
    finish(lexer, lexer->cursor < lexer->end ? PTX_STRING : PTX_BROKEN, start);
    if (lexer->token.kind == PTX_STRING)
        lexer->cursor++;
}

static void take_number(struct ptx_lexer *lexer) {
    const char *start = lexer->cursor;
    bool decimal = !(look(lexer, 0) == '0' && is_name(look(lexer, 1)));
    char last = '\0';
    while (is_name(look(lexer, 0)) || look(lexer, 0) == '.' ||
           (decimal && (last == 'e' || last == 'E') &&
            (look(lexer, 0) == '-' || look(lexer, 0) == '+')))
        last = *lexer->cursor++;
    finish(lexer, PTX_NUMBER, start);
}

static void take_word(struct ptx_lexer *lexer, enum ptx_token_kind kind) {
    const char *start = lexer->cursor++;
    while (is_name(look(lexer, 0)) || (kind == PTX_WORD && look(lexer, 0) == '.'))
        lexer->cursor++;
    finish(lexer, kind, start);
}

void ptx_next(struct ptx_lexer *lexer) {
    bool whole = skip_blanks(lexer);
    lexer->token.line = lexer->line;
    char c = look(lexer, 0);
    if (!whole) {
        finish(lexer, PTX_BROKEN, lexer->cursor);
    } else if (lexer->cursor == lexer->end) {
        finish(lexer, PTX_END, lexer->cursor);
    } else if (c == '"') {
        take_string(lexer);
    } else if (is_digit(c)) {
        take_number(lexer);
    } else if (is_name(c)) {
        take_word(lexer, PTX_WORD);
    } else if (c == '.' && is_name(look(lexer, 1))) {
        take_word(lexer, PTX_DIRECTIVE);
    } else {
        lexer->cursor++;
        finish(lexer, PTX_MARK, lexer->cursor - 1);
    }
}

void ptx_lexer_start(struct ptx_lexer *lexer, const char *text, size_t size) {
    const char *nul = size > 0 ? memchr(text, '\0', size) : NULL;
    *lexer = (struct ptx_lexer){.cursor = text, .end = nul != NULL ? nul : text + size, .line = 1};
    ptx_next(lexer);
}

bool ptx_is(const struct ptx_lexer *lexer, const char *text) {
    const struct ptx_token *token = &lexer->token;
    return token->kind != PTX_STRING && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

static unsigned digit_value(char c) {
    if (is_digit(c))
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

bool ptx_integer(const struct ptx_token *token, uint64_t *out) {
    const char *text = token->text;
    size_t length = token->length, i = 0;
    unsigned base = 10;
    uint64_t value = 0;
    if (token->kind != PTX_NUMBER)
        return false;
    if (length > 1 && text[length - 1] == 'U')
        length--;
    if (length > 1 && text[0] == '0') {
        char mark = text[1];
        base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
        i = base == 8 ? 1 : 2;
        if (i == length)
            return false;
    }
    for (; i < length; i++) {
        unsigned digit = digit_value(text[i]);
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}
