/* Initial values of PTX variables: "= 7", "= {{1, 2}, {3}}", "= 0f3F800000".
 *
 * Values are packed one after the other even if an inner brace holds fewer than its row has room
 * for, as the vendor's assembler does. The address of another variable, as in
 * "= {table, generic(counter) + 8}", becomes zeros: kernels do not execute here, so nothing would
 * follow it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ptx_parse.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Counts of the values so far: all of them, and the items of each open brace. */
struct progress {
    uint64_t values;
    unsigned depth;
    uint64_t items[PTX_DIMENSIONS_MAX];
};

/* The host program may have set a locale in which "1.5" is not one and a half. */
static bool read_decimal(const struct ptx_token *token, double *out) {
    char text[64], *end;
    if (token->length >= sizeof text)
        return false;
    memcpy(text, token->text, token->length);
    text[token->length] = '\0';
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return false;
    *out = strtod_l(text, &end, plain);
    freelocale(plain);
    return end == text + token->length;
}

/* "0f3F800000" and "0d3FF0000000000000" are the bits of a number, not its digits. */
static bool read_float_bits(const struct ptx_token *token, uint64_t *bits) {
    struct ptx_token hexadecimal = *token;
    char text[24] = "0x";
    if ((token->length != 10 && token->length != 18) || token->text[0] != '0')
        return false;
    const char *marks = token->length == 10 ? "fF" : "dD";
    if (token->text[1] != marks[0] && token->text[1] != marks[1])
        return false;
    memcpy(text + 2, token->text + 2, token->length - 2);
    hexadecimal.text = text;
    return ptx_integer(&hexadecimal, bits);
}

static bool read_integer(const struct ptx_token *token, bool negative, uint64_t *bits) {
    if (!ptx_integer(token, bits))
        return false;
    if (negative)
        *bits = 0 - *bits;
    return true;
}

static bool read_number(const struct ptx_declaration *declaration, const struct ptx_token *token,
                        bool negative, uint64_t *bits) {
    double number;
    if (!declaration->floating)
        return read_integer(token, negative, bits);
    if (!negative && read_float_bits(token, bits))
        return true;
    if (!read_decimal(token, &number))
        return false;
    number = negative ? -number : number;
    if (declaration->element == sizeof(float)) {
        float single = (float)number;
        memcpy(bits, &single, sizeof single);
    } else {
        memcpy(bits, &number, sizeof number);
    }
    return true;
}

static bool ends_value(const struct ptx_lexer *lexer) {
    return ptx_is(lexer, ",") || ptx_is(lexer, "}") || ptx_is(lexer, ";");
}

/* An expression up to the next value. An expression with a name is an address; the others are sums
 * that no compiler writes. */
static int skip_expression(struct ptx *ptx) {
    unsigned line = ptx->lexer.token.line, depth = 0;
    bool address = false;
    while (depth > 0 || !ends_value(&ptx->lexer)) {
        enum ptx_token_kind kind = ptx->lexer.token.kind;
        if (kind == PTX_END || kind == PTX_BROKEN || (depth == 0 && ptx_is(&ptx->lexer, ")")))
            return ptx_expected(ptx, "the end of an initial value");
        address = address || kind == PTX_WORD;
        depth = depth + ptx_is(&ptx->lexer, "(") - ptx_is(&ptx->lexer, ")");
        ptx_next(&ptx->lexer);
    }
    if (address)
        return 0;
    return image_refuse(ptx->why, -ENOTSUP,
                        "PTX line %u: an initial value has to be a plain number or an address",
                        line);
}

static int parse_value(struct ptx *ptx, const struct ptx_declaration *declaration, uint64_t *bits) {
    struct ptx_lexer start = ptx->lexer;
    bool negative = ptx_is(&ptx->lexer, "-");
    if (negative)
        ptx_next(&ptx->lexer);
    struct ptx_token token = ptx->lexer.token;
    struct ptx_lexer here = ptx->lexer;
    ptx_next(&ptx->lexer);
    if (token.kind == PTX_NUMBER && ends_value(&ptx->lexer)) {
        if (read_number(declaration, &token, negative, bits))
            return 0;
        ptx->lexer = here;
        return ptx_expected(ptx, "a number of the type of the variable");
    }
    ptx->lexer = start;
    if (ends_value(&ptx->lexer))
        return ptx_expected(ptx, "an initial value");
    return skip_expression(ptx);
}

/* One more item of the innermost open brace, be it a value or a row. */
static int count_item(const struct ptx *ptx, const struct ptx_declaration *declaration,
                      struct progress *progress) {
    if (progress->depth == 0)
        return 0;
    unsigned level = progress->depth - 1;
    bool bounded = level > 0 || !declaration->unsized;
    if (bounded && progress->items[level] == declaration->dimensions[level])
        return ptx_expected(ptx, "fewer initial values");
    progress->items[level]++;
    return 0;
}

/* Values stand within as many braces as the variable has dimensions. Without a store they are only
 * counted. */
static int store_value(struct ptx *ptx, const struct ptx_declaration *declaration,
                       struct progress *progress, uint8_t *store) {
    uint64_t bits = 0;
    if (progress->depth != declaration->dimension_count)
        return ptx_expected(ptx, "'{'");
    int error = count_item(ptx, declaration, progress);
    if (error == 0)
        error = parse_value(ptx, declaration, &bits);
    if (error != 0)
        return error;
    size_t bytes = declaration->element < sizeof bits ? declaration->element : sizeof bits;
    if (store != NULL)
        memcpy(store + progress->values * declaration->element, &bits, bytes);
    progress->values++;
    return 0;
}

static int open_brace(struct ptx *ptx, const struct ptx_declaration *declaration,
                      struct progress *progress) {
    if (progress->depth == declaration->dimension_count)
        return ptx_expected(ptx, "a number");
    int error = count_item(ptx, declaration, progress);
    if (error != 0)
        return error;
    progress->items[progress->depth++] = 0;
    ptx_next(&ptx->lexer);
    return 0;
}

/* The closing braces after a value, and the comma before the next. */
static int finish_item(struct ptx *ptx, struct progress *progress) {
    while (progress->depth > 0 && ptx_is(&ptx->lexer, "}")) {
        progress->depth--;
        ptx_next(&ptx->lexer);
    }
    return progress->depth > 0 ? ptx_expect(ptx, ",") : 0;
}

/* Reads all values; *rows is the number of items in the outermost brace. */
static int fill(struct ptx *ptx, const struct ptx_declaration *declaration, uint8_t *store,
                uint64_t *rows) {
    struct progress progress = {0};
    do {
        int error;
        if (ptx_is(&ptx->lexer, "{")) {
            error = open_brace(ptx, declaration, &progress);
            if (error == 0 && !ptx_is(&ptx->lexer, "}"))
                continue;
        } else {
            error = store_value(ptx, declaration, &progress, store);
        }
        if (error == 0)
            error = finish_item(ptx, &progress);
        if (error != 0)
            return error;
    } while (progress.depth > 0);
    *rows = progress.items[0];
    return 0;
}

/* The first dimension of "v[][2]" is the number of rows that follow. */
static int learn_size(struct ptx *ptx, struct ptx_declaration *declaration) {
    struct ptx_lexer start = ptx->lexer;
    uint64_t rows;
    int error = fill(ptx, declaration, NULL, &rows);
    if (error != 0)
        return error;
    ptx->lexer = start;
    if (declaration->bytes != 0 && rows > IMAGE_BYTES_MAX / declaration->bytes)
        return ptx_expected(ptx, "a smaller variable to initialise");
    declaration->dimensions[0] = rows;
    declaration->bytes *= rows;
    declaration->unsized = false;
    return 0;
}

int ptx_parse_initial(struct ptx *ptx, struct ptx_declaration *declaration, void **out) {
    uint64_t rows;
    int error = declaration->unsized ? learn_size(ptx, declaration) : 0;
    if (error != 0)
        return error;
    if (declaration->bytes > IMAGE_BYTES_MAX - ptx->initial_bytes)
        return ptx_expected(ptx, "smaller variables to initialise");
    ptx->initial_bytes += declaration->bytes;
    uint8_t *store = calloc(1, declaration->bytes + 1);
    if (store == NULL)
        return -ENOMEM;
    error = fill(ptx, declaration, store, &rows);
    if (error != 0) {
        free(store);
        return error;
    }
    *out = store;
    return 0;
}
