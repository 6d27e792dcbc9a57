#include "phase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *text) {
    fprintf(stderr, "driver-phases: %s: %s\n", what, text);
    exit(2);
}

static double read_number(const char *text) {
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= 0))
        fail("not a number", text);
    return number;
}

static void set(struct phase *phase, const char *name, double value) {
    const struct {
        const char *name;
        double *number;
        uint64_t *whole;
    } fields[] = {
        {"wait", &phase->wait_s, NULL},
        {"memory", NULL, &phase->memory},
        {"copy_in", NULL, &phase->copy_in},
        {"iterations", NULL, &phase->iterations},
        {"kernels", NULL, &phase->kernels},
        {"touch", NULL, &phase->touch},
        {"kernel_us", &phase->kernel_us, NULL},
        {"idle", &phase->idle_s, NULL},
        {"idle_jitter", &phase->idle_jitter_s, NULL},
        {"rate", &phase->rate, NULL},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(name, fields[i].name) != 0)
            continue;
        if (fields[i].whole)
            *fields[i].whole = (uint64_t)value;
        else
            *fields[i].number = value;
        return;
    }
    fail("a phase has no such field", name);
}

struct phase phase_read(char *text) {
    struct phase phase = {.kernels = 1};
    char *rest = NULL;
    for (char *field = strtok_r(text, ",", &rest); field; field = strtok_r(NULL, ",", &rest)) {
        char *value = strchr(field, '=');
        if (strcmp(field, "sync") == 0) {
            phase.sync = true;
            continue;
        }
        if (!value)
            fail("a field has no value", field);
        *value++ = '\0';
        set(&phase, field, read_number(value));
    }
    if (phase.touch > phase.memory)
        phase.touch = phase.memory;
    return phase;
}

uint64_t phase_windows(const struct phase *phase) {
    return phase->touch ? (phase->memory + phase->touch - 1) / phase->touch : 1;
}

/* The last window ends with the memory, and overlaps the one before if needed. */
uint64_t phase_window(const struct phase *phase, uint64_t number) {
    uint64_t begin = number * phase->touch, last = phase->memory - phase->touch;
    return begin < last ? begin : last;
}

static void add(struct cuts *cuts, uint64_t place) {
    size_t i = 0;
    while (i < cuts->count && cuts->at[i] < place)
        i++;
    if (i < cuts->count && cuts->at[i] == place)
        return;
    if (cuts->count == MAX_CUTS)
        fail("the memory has too many parts", "touch more of it, or use equal sizes");
    memmove(cuts->at + i + 1, cuts->at + i, (cuts->count - i) * sizeof cuts->at[0]);
    cuts->at[i] = place;
    cuts->count++;
}

struct cuts phase_cuts(const struct phase *phases, size_t count) {
    struct cuts cuts = {.count = 1};
    for (size_t p = 0; p < count; p++) {
        add(&cuts, phases[p].memory);
        for (uint64_t w = 0; w < phase_windows(&phases[p]); w++) {
            add(&cuts, phase_window(&phases[p], w));
            add(&cuts, phase_window(&phases[p], w) + phases[p].touch);
        }
    }
    return cuts;
}
