/* Tries kept inputs, once each: replay TARGET FILE...
 *
 * Needs no fuzzer, so that every compiler can build it. It names each file on stderr before it
 * tries it. A failure ends it by a signal or with a sanitizer's exit code. */
#include <stdio.h>
#include <string.h>

#include "targets.h"

static const struct {
    const char *name;
    void (*try)(const uint8_t *data, size_t size);
} targets[] = {
#define TARGET(name) {#name, fuzz_##name},
    FUZZ_TARGETS(TARGET)
#undef TARGET
};

static int replay(void (*try)(const uint8_t *, size_t), const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        return 1;
    }
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? (size_t)size : 1);
    if (size < 0 || !data || fread(data, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        return 1;
    }
    fclose(file);
    fprintf(stderr, "%s\n", path);
    try(data, (size_t)size);
    free(data);
    return 0;
}

int main(int count, char **arguments) {
    for (size_t i = 0; count > 1 && i < sizeof targets / sizeof *targets; i++) {
        if (strcmp(arguments[1], targets[i].name) != 0)
            continue;
        int failed = 0;
        for (int file = 2; file < count; file++)
            failed |= replay(targets[i].try, arguments[file]);
        return failed;
    }
    fprintf(stderr, "usage: replay TARGET FILE...\ntargets:");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        fprintf(stderr, " %s", targets[i].name);
    fprintf(stderr, "\n");
    return 2;
}
