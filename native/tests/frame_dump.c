/* Reads byte strings and prints the frames in them, so that a test can compare with Python.
 *
 * On stdin: strings, each after its size as u32. For each, one line on stdout: "type:payload" in
 * hexadecimal for every frame, and then the end: "more N" for N bytes of an unfinished frame, or
 * the name of an error. Every frame is also built anew, and has to be the same except for the
 * reserved bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frame.h"

static void print_frame(const struct frame_view *view) {
    printf("%u:", view->type);
    for (size_t i = 0; i < view->length; i++)
        printf("%02x", ((const unsigned char *)view->payload)[i]);
    putchar(' ');
}

static void build_again(const char *bytes, size_t size, const struct frame_view *view) {
    char *copy = malloc(size);
    if (!copy || frame_build(copy, size, view->type, view->payload, view->length) != (ssize_t)size)
        abort();
    size_t reserved = offsetof(struct frame_header, reserved);
    if (memcmp(copy, bytes, reserved) != 0)
        abort();
    if (memcmp(copy + sizeof(struct frame_header), bytes + sizeof(struct frame_header),
               view->length) != 0)
        abort();
    if (frame_build(copy, size - 1, view->type, view->payload, view->length) != -ENOBUFS)
        abort();
    free(copy);
}

static void dump(const char *bytes, size_t size) {
    struct frame_view view;
    ssize_t taken;
    while ((taken = frame_parse(bytes, size, &view)) > 0) {
        print_frame(&view);
        build_again(bytes, (size_t)taken, &view);
        bytes += taken;
        size -= (size_t)taken;
    }
    if (taken == 0)
        printf("more %zu\n", size);
    else
        printf("%s\n", taken == -EPROTO            ? "magic"
                       : taken == -EPROTONOSUPPORT ? "version"
                       : taken == -EMSGSIZE        ? "length"
                                                   : "?");
    fflush(stdout);
}

int main(void) {
    uint32_t size;
    while (fread(&size, sizeof size, 1, stdin) == 1) {
        /* Exactly as large as the content, so that a sanitizer sees the first byte too many. */
        char *bytes = malloc(size);
        if (!bytes || fread(bytes, 1, size, stdin) != size)
            return 1;
        dump(bytes, size);
        free(bytes);
    }
    return 0;
}
