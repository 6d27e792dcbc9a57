#include "quantity.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct suffix {
    const char *name;
    uint64_t factor;
};

static const struct suffix suffixes[] = {
    {"", 1},
    {"k", 1000ull},
    {"M", 1000000ull},
    {"G", 1000000000ull},
    {"T", 1000000000000ull},
    {"P", 1000000000000000ull},
    {"Ki", 1ull << 10},
    {"Mi", 1ull << 20},
    {"Gi", 1ull << 30},
    {"Ti", 1ull << 40},
    {"Pi", 1ull << 50},
};

static const struct suffix *find_suffix(const char *name) {
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (strcmp(suffixes[i].name, name) == 0)
            return &suffixes[i];
    return NULL;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Reads at most `most` digits. Returns how many there were. */
static int read_digits(const char **text, int most, uint64_t *number, bool *too_large) {
    int count = 0;
    for (*number = 0; is_digit(**text) && count < most; (*text)++, count++) {
        uint64_t digit = (uint64_t)(**text - '0');
        if (*number > (UINT64_MAX - digit) / 10)
            *too_large = true;
        *number = *number * 10 + digit;
    }
    return count;
}

/* ctype.h and strtod follow the locale of the user's program; this does not. Nine places behind the
 * point are more than is ever written, and keep it exact. */
int quantity_parse(const char *text, uint64_t *bytes) {
    uint64_t whole, fraction = 0, scale = 1;
    bool too_large = false;
    int before = read_digits(&text, INT_MAX, &whole, &too_large);
    int after = 0;
    if (*text == '.') {
        text++;
        after = read_digits(&text, 9, &fraction, &too_large);
    }
    for (int i = 0; i < after; i++)
        scale *= 10;
    const struct suffix *suffix = find_suffix(text);
    if (before + after == 0 || !suffix)
        return -EINVAL;
    unsigned __int128 size = (unsigned __int128)whole * suffix->factor;
    size += ((unsigned __int128)fraction * suffix->factor + scale - 1) / scale;
    if (too_large || size > UINT64_MAX)
        return -ERANGE;
    *bytes = (uint64_t)size;
    return 0;
}

void quantity_show(uint64_t bytes, char text[QUANTITY_TEXT]) {
    if (bytes < 1 << 20) {
        snprintf(text, QUANTITY_TEXT, "%u bytes", (unsigned)bytes);
        return;
    }
    bool is_large = bytes >> 30;
    unsigned __int128 tenths = (unsigned __int128)bytes * 10 >> (is_large ? 30 : 20);
    snprintf(text, QUANTITY_TEXT, "%llu.%u %s", (unsigned long long)(tenths / 10),
             (unsigned)(tenths % 10), is_large ? "GiB" : "MiB");
}
