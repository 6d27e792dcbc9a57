/* PTX, cubins and fatbins, as programs hand them to the driver (lab/emulator/image). */
#include <string.h>

#include "image.h"
#include "targets.h"

/* Those of the card of most seeds, and of one that takes other kinds of code. */
static const int capabilities[] = {75, 90};

static void check_kernel(const struct image_kernel *kernel) {
    FUZZ_PROMISE(kernel->name && strlen(kernel->name) > 0);
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const struct image_parameter *parameter = &kernel->parameters[i];
        FUZZ_PROMISE((uint64_t)parameter->offset + parameter->size <= kernel->parameter_bytes);
    }
    FUZZ_PROMISE(kernel->registers >= 0 && kernel->shared_bytes >= 0 && kernel->local_bytes >= 0);
    FUZZ_PROMISE(kernel->max_threads >= 0 && kernel->constant_bytes >= 0);
}

static void check_global(const struct image_global *global) {
    const volatile char *initial = global->initial;
    FUZZ_PROMISE(global->name && strlen(global->name) > 0);
    /* A byte of each page: a sanitizer sees if they are there, and large variables take no time. */
    for (uint64_t i = 0; initial && i < global->bytes; i += 4096)
        (void)initial[i];
    if (initial && global->bytes)
        (void)initial[global->bytes - 1];
}

static void load(const void *data, size_t size, int capability) {
    char why[64] = "";
    struct image *const untouched = (struct image *)why;
    struct image *image = untouched;
    int error = image_load(data, size, capability, &image, why, sizeof why);
    FUZZ_PROMISE(error <= 0 && memchr(why, '\0', sizeof why));
    if (error < 0) {
        FUZZ_PROMISE(image == untouched && *why);
        return;
    }
    for (size_t i = 0; i < image->kernel_count; i++)
        check_kernel(&image->kernels[i]);
    for (size_t i = 0; i < image->global_count; i++)
        check_global(&image->globals[i]);
    image_free(image);
}

static void load_for_all(const void *data, size_t size) {
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        load(data, size, capabilities[i]);
}

/* Adds the magic of its kind, so that the fuzzer need not preserve it. */
static void load_as(const char magic[4], const uint8_t *data, size_t size) {
    if (size < 4)
        return;
    uint8_t *copy = malloc(size);
    FUZZ_PROMISE(copy);
    memcpy(copy, magic, 4);
    memcpy(copy + 4, data + 4, size - 4);
    load_for_all(copy, size);
    free(copy);
}

void fuzz_cubin(const uint8_t *data, size_t size) {
    load_as("\x7f"
            "ELF",
            data, size);
}

void fuzz_fatbin(const uint8_t *data, size_t size) {
    load_as("\x50\xed\x55\xba", data, size);
}

void fuzz_ptx(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    if (size)
        load_for_all(text, size);
    /* Text of unknown size ends at its NUL. For other images the reader has to trust their own
     * sizes. */
    if (size && (*text == '.' || *text == '/' || *text == '\n' || *text == ' '))
        load_for_all(text, 0);
    free(text);
}
