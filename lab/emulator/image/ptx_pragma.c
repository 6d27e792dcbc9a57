/* Pragmas. Our own one states the cost of a kernel on the emulated device:
 *
 *     .pragma "nvshare cost_us 500";
 *
 * It is in the entry that it is about. Real compilers warn of an unknown pragma and go on.
 */
#include "ptx_parse.h"

#include <string.h>

static bool take(struct ptx_token *text, const char *prefix) {
    size_t length = strlen(prefix);
    if (text->length < length || memcmp(text->text, prefix, length) != 0)
        return false;
    text->text += length;
    text->length -= length;
    return true;
}

/* Microseconds, with or without a fraction, as nanoseconds. Finer digits are cut off. */
static bool read_cost(struct ptx_token text, uint64_t *nanoseconds) {
    uint64_t value = 0;
    unsigned digits = 0, fraction = 0;
    bool point = false;
    for (size_t i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            return false;
        digits++;
        if (fraction == 3)
            continue;
        fraction += point;
        if (value > UINT64_MAX / 100000)
            return false;
        value = value * 10 + (uint64_t)(c - '0');
    }
    for (; fraction < 3; fraction++)
        value *= 10;
    *nanoseconds = value;
    return digits > 0 && value > 0;
}

static int apply(struct ptx *ptx, struct image_kernel *kernel) {
    struct ptx_token text = ptx->lexer.token;
    uint64_t cost;
    if (!take(&text, "nvshare "))
        return 0;
    if (!take(&text, "cost_us ") || !read_cost(text, &cost))
        return ptx_expected(ptx, "\"nvshare cost_us <microseconds>\"");
    if (kernel == NULL)
        return ptx_expected(ptx, "a cost only within an entry");
    kernel->cost_ns = cost;
    return 0;
}

int ptx_parse_pragma(struct ptx *ptx, struct image_kernel *kernel) {
    for (;;) {
        if (ptx->lexer.token.kind != PTX_STRING)
            return ptx_expected(ptx, "the text of a pragma");
        int error = apply(ptx, kernel);
        if (error != 0)
            return error;
        ptx_next(&ptx->lexer);
        if (!ptx_is(&ptx->lexer, ","))
            return ptx_expect(ptx, ";");
        ptx_next(&ptx->lexer);
    }
}
