/* Faults on request, to test how a program handles them. */
#include "inject.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const NAMES[INJECTED] = {
    [INJECT_CREATE] = "create",     [INJECT_MAP] = "map",
    [INJECT_ACCESS] = "access",     [INJECT_UNMAP] = "unmap",
    [INJECT_RELEASE] = "release",   [INJECT_RESERVE] = "reserve",
    [INJECT_REGISTER] = "register", [INJECT_UNRESERVE] = "unreserve"};

static struct plan {
    uint64_t number; /* 0: no fault */
    char when;       /* '/': every so many; '@': once; '+': from then on */
    CUresult error;
    uint64_t calls;
} plans[INJECTED];

static uint64_t failed;

/* Reads "NAME/N", "NAME@N" or "NAME+N", and sets `rest` to the text after it. */
static bool read_when(const char *text, struct plan *plan, enum injected *call, const char **rest) {
    size_t length = strcspn(text, "/@+");
    int found = INJECTED;
    for (int i = 0; i < INJECTED; i++)
        if (NAMES[i] && strlen(NAMES[i]) == length && strncmp(text, NAMES[i], length) == 0)
            found = i;
    if (found == INJECTED || !text[length])
        return false;
    char *end;
    plan->when = text[length];
    plan->number = strtoull(text + length + 1, &end, 10);
    *call = (enum injected)found;
    *rest = end;
    return plan->number > 0 && end != text + length + 1;
}

static bool read_failures(const char *text) {
    while (*text) {
        struct plan plan = {0};
        enum injected call;
        char *end;
        if (!read_when(text, &plan, &call, &text) || *text != '=')
            return false;
        plan.error = (CUresult)strtoul(text + 1, &end, 10);
        if (end == text + 1 || !plan.error || (*end && *end != ','))
            return false;
        plans[call] = plan;
        text = *end ? end + 1 : end;
    }
    return true;
}

static bool read_theft(const char *text) {
    struct plan plan = {.error = CUDA_ERROR_UNKNOWN};
    enum injected call;
    if (!*text)
        return true;
    if (!read_when(text, &plan, &call, &text) || call != INJECT_RELEASE || *text)
        return false;
    plans[INJECT_STEAL] = plan;
    return true;
}

static bool read_one(const char *name, bool (*reader)(const char *)) {
    const char *text = getenv(name);
    if (!text || reader(text))
        return true;
    fprintf(stderr, "nvshare emulator: %s is not understood: %s\n", name, text);
    return false;
}

bool inject_read(void) {
    memset(plans, 0, sizeof plans);
    failed = 0;
    return read_one("NVSHARE_EMULATOR_FAIL", read_failures) &&
           read_one("NVSHARE_EMULATOR_STEAL", read_theft);
}

static bool is_due(const struct plan *plan, uint64_t count) {
    switch (plan->when) {
    case '@': return count == plan->number;
    case '+': return count >= plan->number;
    default: return count % plan->number == 0;
    }
}

CUresult inject(enum injected call) {
    struct plan *plan = &plans[call];
    if (__builtin_expect(!plan->number, 1))
        return CUDA_SUCCESS;
    uint64_t count = __atomic_add_fetch(&plan->calls, 1, __ATOMIC_RELAXED);
    if (!is_due(plan, count))
        return CUDA_SUCCESS;
    __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
    return plan->error;
}

uint64_t inject_count(void) {
    return __atomic_load_n(&failed, __ATOMIC_RELAXED);
}
