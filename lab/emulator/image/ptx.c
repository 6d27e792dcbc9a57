/* A PTX module: its heading, its variables, and the order of everything else. */
#include "ptx.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "ptx_parse.h"

int ptx_expected(const struct ptx *ptx, const char *what) {
    const struct ptx_token *token = &ptx->lexer.token;
    if (token->kind == PTX_END || token->kind == PTX_BROKEN)
        return image_refuse(ptx->why, -EINVAL, "PTX line %u: expected %s, but the text ends",
                            token->line, what);
    int shown = token->length > 40 ? 40 : (int)token->length;
    return image_refuse(ptx->why, -EINVAL, "PTX line %u: expected %s, found '%.*s'", token->line,
                        what, shown, token->text);
}

int ptx_expect(struct ptx *ptx, const char *text) {
    char quoted[24] = "'";
    if (!ptx_is(&ptx->lexer, text)) {
        strncat(quoted, text, sizeof quoted - 3);
        strcat(quoted, "'");
        return ptx_expected(ptx, quoted);
    }
    ptx_next(&ptx->lexer);
    return 0;
}

int ptx_skip_past(struct ptx *ptx, const char *mark) {
    unsigned depth = 0;
    for (;;) {
        bool found = depth == 0 && ptx_is(&ptx->lexer, mark);
        if (ptx->lexer.token.kind == PTX_END || ptx->lexer.token.kind == PTX_BROKEN)
            return ptx_expect(ptx, mark);
        if (!found && (ptx_is(&ptx->lexer, "(") || ptx_is(&ptx->lexer, "{")))
            depth++;
        if (!found && (ptx_is(&ptx->lexer, ")") || ptx_is(&ptx->lexer, "}"))) {
            if (depth == 0)
                return ptx_expect(ptx, mark);
            depth--;
        }
        ptx_next(&ptx->lexer);
        if (found)
            return 0;
    }
}

static int add_global(struct ptx *ptx, const struct ptx_declaration *variable, void *initial) {
    struct image_global global = {.bytes = variable->bytes, .initial = initial};
    int error = image_copy_name(variable->name.text, variable->name.length, &global.name);
    if (error != 0)
        return error;
    error = image_take_global(ptx->image, &global);
    if (error != 0)
        free(global.name);
    return error;
}

static int finish_variable(struct ptx *ptx, struct ptx_declaration *variable, bool constant) {
    void *initial = NULL;
    uint64_t offset;
    int error = 0;
    if (ptx_is(&ptx->lexer, "=")) {
        ptx_next(&ptx->lexer);
        error = ptx_parse_initial(ptx, variable, &initial);
    } else if (variable->unsized) {
        error = ptx_expected(ptx, "'=' and the values of an array without a size");
    }
    if (error == 0 && constant)
        error = ptx_place(ptx, variable, &ptx->constant_bytes, &offset);
    if (error == 0)
        error = add_global(ptx, variable, initial);
    if (error != 0)
        free(initial);
    return error;
}

/* After ".global" or ".const". */
static int parse_variables(struct ptx *ptx, bool constant) {
    struct ptx_declaration variable;
    int error = ptx_parse_type(ptx, &variable);
    if (error == 0 && variable.opaque)
        return ptx_skip_past(ptx, ";");
    while (error == 0) {
        error = ptx_parse_name(ptx, &variable);
        if (error == 0)
            error = finish_variable(ptx, &variable, constant);
        if (error != 0 || !ptx_is(&ptx->lexer, ","))
            break;
        ptx_next(&ptx->lexer);
    }
    return error != 0 ? error : ptx_expect(ptx, ";");
}

/* A device function: a prototype up to its semicolon, or a heading and a body. */
static int skip_function(struct ptx *ptx) {
    while (!ptx_is(&ptx->lexer, "{") && !ptx_is(&ptx->lexer, ";")) {
        bool nested = ptx_is(&ptx->lexer, "(");
        if (ptx->lexer.token.kind == PTX_END || ptx->lexer.token.kind == PTX_BROKEN)
            return ptx_expected(ptx, "the body of a function");
        ptx_next(&ptx->lexer);
        int error = nested ? ptx_skip_past(ptx, ")") : 0;
        if (error != 0)
            return error;
    }
    bool body = ptx_is(&ptx->lexer, "{");
    ptx_next(&ptx->lexer);
    return body ? ptx_skip_past(ptx, "}") : 0;
}

/* '.file 1 "a.cu", 0, 0' has no semicolon. */
static int skip_file(struct ptx *ptx) {
    uint64_t ignored;
    if (!ptx_integer(&ptx->lexer.token, &ignored))
        return ptx_expected(ptx, "the number of a file");
    ptx_next(&ptx->lexer);
    if (ptx->lexer.token.kind != PTX_STRING)
        return ptx_expected(ptx, "the name of a file");
    ptx_next(&ptx->lexer);
    while (ptx_is(&ptx->lexer, ",")) {
        ptx_next(&ptx->lexer);
        ptx_next(&ptx->lexer);
    }
    return 0;
}

/* ".section .debug_info { ... }" */
static int skip_section(struct ptx *ptx) {
    while (ptx->lexer.token.kind == PTX_DIRECTIVE || ptx->lexer.token.kind == PTX_WORD)
        ptx_next(&ptx->lexer);
    int error = ptx_expect(ptx, "{");
    return error != 0 ? error : ptx_skip_past(ptx, "}");
}

/* ".visible .weak" and so on; true if one says that the definition is elsewhere. */
static bool skip_linkage(struct ptx *ptx) {
    bool elsewhere = false;
    while (ptx_is(&ptx->lexer, ".visible") || ptx_is(&ptx->lexer, ".weak") ||
           ptx_is(&ptx->lexer, ".common") || ptx_is(&ptx->lexer, ".extern")) {
        elsewhere = elsewhere || ptx_is(&ptx->lexer, ".extern");
        ptx_next(&ptx->lexer);
    }
    return elsewhere;
}

static bool take(struct ptx *ptx, const char *directive) {
    if (!ptx_is(&ptx->lexer, directive))
        return false;
    ptx_next(&ptx->lexer);
    return true;
}

static int parse_item(struct ptx *ptx) {
    bool elsewhere = skip_linkage(ptx);
    if (take(ptx, ".entry"))
        return ptx_parse_entry(ptx);
    if (take(ptx, ".func"))
        return skip_function(ptx);
    bool constant = ptx_is(&ptx->lexer, ".const");
    if (!elsewhere && (take(ptx, ".global") || take(ptx, ".const")))
        return parse_variables(ptx, constant);
    if (!elsewhere && take(ptx, ".shared"))
        return ptx_parse_shared(ptx);
    if (take(ptx, ".global") || take(ptx, ".const") || take(ptx, ".shared") ||
        take(ptx, ".local") || take(ptx, ".tex") || take(ptx, ".alias"))
        return ptx_skip_past(ptx, ";");
    if (take(ptx, ".pragma"))
        return ptx_parse_pragma(ptx, NULL);
    if (take(ptx, ".file"))
        return skip_file(ptx);
    if (take(ptx, ".section"))
        return skip_section(ptx);
    return ptx_expected(ptx, "a directive such as .entry or .global");
}

/* "sm_90a", "compute_75": the architecture, and whether it is bound to one device or one family. */
static bool read_target(const struct ptx_token *token, int *target, bool *specific, bool *family) {
    size_t i = 0, length = token->length;
    int value = 0;
    if (token->kind != PTX_WORD)
        return false;
    *specific = token->text[length - 1] == 'a';
    *family = token->text[length - 1] == 'f';
    length -= *specific || *family;
    for (const char *prefix = token->text[0] == 's' ? "sm_" : "compute_"; *prefix; prefix++, i++)
        if (i >= length || token->text[i] != *prefix)
            return false;
    if (i == length || length - i > 3)
        return false;
    for (; i < length; i++) {
        if (token->text[i] < '0' || token->text[i] > '9')
            return false;
        value = value * 10 + (token->text[i] - '0');
    }
    *target = value;
    return true;
}

static int parse_target(struct ptx *ptx) {
    bool specific, family;
    if (!read_target(&ptx->lexer.token, &ptx->target, &specific, &family))
        return ptx_expected(ptx, "a target such as sm_75");
    if (!image_ptx_fits(ptx->target, specific, family, ptx->device))
        return image_refuse(ptx->why, -EINVAL,
                            "PTX line %u: the target %.*s is not one that compute capability %d.%d "
                            "can run",
                            ptx->lexer.token.line, (int)ptx->lexer.token.length,
                            ptx->lexer.token.text, ptx->device / 10, ptx->device % 10);
    ptx_next(&ptx->lexer);
    while (take(ptx, ","))
        ptx_next(&ptx->lexer);
    return 0;
}

/* ".version 8.0 .target sm_75, debug .address_size 64", of which the last is optional. */
static int parse_heading(struct ptx *ptx) {
    int error = ptx_expect(ptx, ".version");
    if (error == 0 && ptx->lexer.token.kind != PTX_NUMBER)
        error = ptx_expected(ptx, "a version such as 8.0");
    if (error != 0)
        return error;
    ptx_next(&ptx->lexer);
    error = ptx_expect(ptx, ".target");
    if (error == 0)
        error = parse_target(ptx);
    if (error == 0 && take(ptx, ".address_size"))
        error = ptx_expect(ptx, "64");
    return error;
}

int ptx_read(struct bytes text, int device, struct image *image, const struct image_reason *why) {
    struct ptx ptx = {.image = image, .why = why, .device = device};
    ptx_lexer_start(&ptx.lexer, (const char *)text.data, text.size);
    int error = parse_heading(&ptx);
    if (error == 0 && ptx.lexer.token.kind == PTX_END)
        error = ptx_expected(&ptx, "an entry, a function or a variable");
    while (error == 0 && ptx.lexer.token.kind != PTX_END)
        error = parse_item(&ptx);
    free(ptx.shared);
    if (error != 0)
        return error;
    for (size_t i = 0; i < image->kernel_count; i++)
        image->kernels[i].constant_bytes =
            ptx.constant_bytes > INT_MAX ? INT_MAX : (int)ptx.constant_bytes;
    return 0;
}
