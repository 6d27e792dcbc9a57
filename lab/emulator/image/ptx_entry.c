/* One kernel of a PTX module: parameters, launch bounds, and the declarations in its body. */
#include "ptx_parse.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static int parse_parameter(struct ptx *ptx, struct image_kernel *kernel, uint64_t *end) {
    struct ptx_declaration parameter;
    uint64_t offset;
    int error = ptx_expect(ptx, ".param");
    if (error == 0)
        error = ptx_parse_type(ptx, &parameter);
    if (error == 0)
        error = ptx_parse_name(ptx, &parameter);
    if (error == 0 && (parameter.unsized || parameter.bytes == 0))
        error = ptx_expected(ptx, "a parameter with a size");
    if (error == 0)
        error = ptx_place(ptx, &parameter, end, &offset);
    if (error == 0 && *end > IMAGE_PARAMETER_BYTES_MAX)
        error = ptx_expected(ptx, "fewer bytes of parameters (at most 32764)");
    if (error == 0)
        error = image_kernel_add_parameter(kernel, (uint32_t)offset, (uint32_t)parameter.bytes);
    return error;
}

static int parse_parameters(struct ptx *ptx, struct image_kernel *kernel) {
    uint64_t end = 0;
    if (!ptx_is(&ptx->lexer, "("))
        return 0;
    ptx_next(&ptx->lexer);
    while (!ptx_is(&ptx->lexer, ")")) {
        int error = parse_parameter(ptx, kernel, &end);
        if (error == 0 && !ptx_is(&ptx->lexer, ")"))
            error = ptx_expect(ptx, ",");
        if (error != 0)
            return error;
    }
    ptx_next(&ptx->lexer);
    kernel->parameter_bytes = (uint32_t)end;
    return 0;
}

/* ".maxntid 256, 1, 1": up to three numbers, the missing ones being 1. */
static int parse_dimensions(struct ptx *ptx, uint32_t dimensions[3]) {
    for (int i = 0; i < 3; i++)
        dimensions[i] = 1;
    for (int i = 0;; i++) {
        uint64_t value;
        ptx_next(&ptx->lexer);
        if (!ptx_integer(&ptx->lexer.token, &value) || value == 0 || value > INT_MAX)
            return ptx_expected(ptx, "a number of threads");
        dimensions[i] = (uint32_t)value;
        ptx_next(&ptx->lexer);
        if (i == 2 || !ptx_is(&ptx->lexer, ","))
            return 0;
    }
}

static int parse_bounds(struct ptx *ptx, struct image_kernel *kernel) {
    uint32_t dimensions[3];
    bool required = ptx_is(&ptx->lexer, ".reqntid");
    int error = parse_dimensions(ptx, dimensions);
    if (error != 0)
        return error;
    kernel->max_threads = image_block_threads(dimensions);
    for (int i = 0; required && i < 3; i++)
        kernel->required_threads[i] = (int)dimensions[i];
    return 0;
}

/* Between the parameters and the body. Other directives steer the compiler only. */
static int parse_directives(struct ptx *ptx, struct image_kernel *kernel) {
    while (!ptx_is(&ptx->lexer, "{") && !ptx_is(&ptx->lexer, ";")) {
        int error = 0;
        enum ptx_token_kind kind = ptx->lexer.token.kind;
        if (ptx_is(&ptx->lexer, ".maxntid") || ptx_is(&ptx->lexer, ".reqntid")) {
            error = parse_bounds(ptx, kernel);
        } else if (ptx_is(&ptx->lexer, ".pragma")) {
            ptx_next(&ptx->lexer);
            error = ptx_parse_pragma(ptx, kernel);
        } else if (kind == PTX_DIRECTIVE || kind == PTX_NUMBER || ptx_is(&ptx->lexer, ",")) {
            ptx_next(&ptx->lexer);
        } else {
            error = ptx_expected(ptx, "the body of an entry");
        }
        if (error != 0)
            return error;
    }
    return 0;
}

/* ".shared .align 4 .b8 tile[1024], more[4];" */
static int parse_space(struct ptx *ptx, int *bytes) {
    struct ptx_declaration variable;
    uint64_t end = (uint64_t)*bytes, offset;
    int error = ptx_parse_type(ptx, &variable);
    while (error == 0) {
        error = ptx_parse_name(ptx, &variable);
        if (error == 0 && variable.unsized)
            error = ptx_expected(ptx, "a variable with a size");
        if (error == 0)
            error = ptx_place(ptx, &variable, &end, &offset);
        if (error != 0 || !ptx_is(&ptx->lexer, ","))
            break;
        ptx_next(&ptx->lexer);
    }
    if (error == 0 && end > INT_MAX)
        error = ptx_expected(ptx, "smaller variables");
    if (error == 0)
        error = ptx_expect(ptx, ";");
    if (error == 0)
        *bytes = (int)end;
    return error;
}

/* ".loc" has no semicolon: the end of the line ends it. */
static void skip_line(struct ptx_lexer *lexer) {
    unsigned line = lexer->token.line;
    while (lexer->token.kind != PTX_END && lexer->token.kind != PTX_BROKEN &&
           lexer->token.line == line)
        ptx_next(lexer);
}

/* A statement that describes the kernel, at its first token; *told is false for all others. */
static int parse_statement(struct ptx *ptx, struct image_kernel *kernel, bool *told) {
    *told = true;
    if (ptx_is(&ptx->lexer, ".loc")) {
        skip_line(&ptx->lexer);
        return 0;
    }
    bool shared = ptx_is(&ptx->lexer, ".shared"), local = ptx_is(&ptx->lexer, ".local");
    if (shared || local) {
        ptx_next(&ptx->lexer);
        return parse_space(ptx, shared ? &kernel->shared_bytes : &kernel->local_bytes);
    }
    if (ptx_is(&ptx->lexer, ".pragma")) {
        ptx_next(&ptx->lexer);
        return ptx_parse_pragma(ptx, kernel);
    }
    *told = false;
    return 0;
}

static int parse_body(struct ptx *ptx, struct image_kernel *kernel) {
    unsigned depth = 0;
    bool first = false;
    do {
        bool told = false;
        int error = first ? parse_statement(ptx, kernel, &told) : 0;
        if (error != 0)
            return error;
        if (told)
            continue;
        error = ptx_count_shared(ptx, kernel);
        if (error != 0)
            return error;
        if (ptx->lexer.token.kind == PTX_END || ptx->lexer.token.kind == PTX_BROKEN)
            return ptx_expected(ptx, "the end of a body");
        bool opens = ptx_is(&ptx->lexer, "{"), closes = ptx_is(&ptx->lexer, "}");
        depth = depth + opens - closes;
        first = opens || closes || ptx_is(&ptx->lexer, ";") || ptx_is(&ptx->lexer, ":");
        ptx_next(&ptx->lexer);
    } while (depth > 0);
    return 0;
}

/* *defined is false for a prototype, which ends with a semicolon instead of a body. */
static int parse_kernel(struct ptx *ptx, struct image_kernel *kernel, bool *defined) {
    int error = parse_parameters(ptx, kernel);
    if (error == 0)
        error = parse_directives(ptx, kernel);
    if (error != 0)
        return error;
    *defined = ptx_is(&ptx->lexer, "{");
    return *defined ? parse_body(ptx, kernel) : ptx_expect(ptx, ";");
}

int ptx_parse_entry(struct ptx *ptx) {
    struct image_kernel kernel = {.ptx_version = ptx->target, .binary_version = ptx->device};
    struct ptx_token name = ptx->lexer.token;
    bool defined = false;
    if (name.kind != PTX_WORD)
        return ptx_expected(ptx, "the name of an entry");
    int error = image_copy_name(name.text, name.length, &kernel.name);
    if (error != 0)
        return error;
    ptx_next(&ptx->lexer);
    error = parse_kernel(ptx, &kernel, &defined);
    if (error == 0 && defined)
        error = image_take_kernel(ptx->image, &kernel);
    if (error != 0 || !defined)
        image_kernel_release(&kernel);
    return error;
}
