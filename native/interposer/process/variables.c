#include "variables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "quantity.h"

const char *variable_get(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

void variable_complain(const char *name, const char *value, const char *wanted) {
    log_warn("%s is \"%.64s\", but should be %s: the variable is ignored", name, value, wanted);
}

static void refuse(const char *name, const char *value, const char *wanted, bool *wrong) {
    log_warn("%s is \"%.64s\", but should be %s: the program may not use the GPU. Correct the "
             "variable, or unset it to run without this limit",
             name, value, wanted);
    *wrong = true;
}

bool variable_flag(const char *name) {
    const char *value = variable_get(name);
    if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        variable_complain(name, value, "0 or 1");
    return value && strcmp(value, "1") == 0;
}

uint64_t variable_amount(const char *name, bool *wrong) {
    const char *value = variable_get(name);
    uint64_t bytes = 0;
    if (value && (quantity_parse(value, &bytes) < 0 || bytes == 0))
        refuse(name, value, "an amount of memory such as 4Gi or 1500Mi", wrong);
    return bytes;
}

uint64_t variable_number(const char *name, uint64_t least, uint64_t most, bool *wrong) {
    const char *value = variable_get(name);
    char *end = NULL, wanted[64];
    unsigned long long number = value ? strtoull(value, &end, 10) : 0;
    if (value && (*end || number < least || number > most)) {
        snprintf(wanted, sizeof wanted, "a number from %" PRIu64 " to %" PRIu64, least, most);
        refuse(name, value, wanted, wrong);
        return 0;
    }
    return number;
}

/* "high, normal or low" */
static void list(const struct variable_choice *choices, char *text, size_t size) {
    size_t used = 0;
    for (const struct variable_choice *one = choices; one->name && used < size; one++) {
        const char *before = one == choices ? "" : one[1].name ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, one->name);
    }
}

uint32_t variable_choice(const char *name, const struct variable_choice *choices, bool *wrong) {
    const char *value = variable_get(name);
    char wanted[128] = "";
    for (const struct variable_choice *one = choices; value && one->name; one++)
        if (strcmp(value, one->name) == 0)
            return one->meaning;
    if (value) {
        list(choices, wanted, sizeof wanted);
        refuse(name, value, wanted, wrong);
    }
    return 0;
}
