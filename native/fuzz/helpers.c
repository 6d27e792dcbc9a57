/* Bytes in the forms that readers need. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "targets.h"

char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    FUZZ_PROMISE(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

int fuzz_file(const void *data, size_t size, char path[32]) {
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_PROMISE(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, 32, "/proc/self/fd/%d", file);
    return file;
}
