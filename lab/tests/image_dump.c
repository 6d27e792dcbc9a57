/* Prints code images as JSON, one line each, so that tests can check the reader.
 *
 *     image_dump [options] FILE...      prints each file
 *     image_dump [options] --stream     images on stdin, each after its size as u32
 *
 *     --capability N   of the device (75)
 *     --unknown-size   passes a size of 0, as cuModuleLoadData does
 *     --wrapper        passes a wrapper that leads to the content, as embedded code does
 *
 * Content is kept in a block of exactly its size, so that a sanitizer sees the first byte too many.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"

struct options {
    int capability;
    bool stream, unknown_size, wrapper;
};

static void print_string(const char *text) {
    putchar('"');
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void print_parameters(const struct image_kernel *kernel) {
    printf("\"parameter_bytes\": %u, \"parameters\": [", kernel->parameter_bytes);
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        printf("%s[%u, %u]", i ? ", " : "", kernel->parameters[i].offset,
               kernel->parameters[i].size);
    printf("]");
}

static void print_kernel(const struct image_kernel *kernel) {
    printf("{\"name\": ");
    print_string(kernel->name);
    printf(", ");
    print_parameters(kernel);
    printf(", \"registers\": %d, \"shared_bytes\": %d, \"local_bytes\": %d", kernel->registers,
           kernel->shared_bytes, kernel->local_bytes);
    printf(", \"constant_bytes\": %d, \"max_threads\": %d, \"required_threads\": [%d, %d, %d]",
           kernel->constant_bytes, kernel->max_threads, kernel->required_threads[0],
           kernel->required_threads[1], kernel->required_threads[2]);
    printf(", \"ptx_version\": %d, \"binary_version\": %d, \"cost_ns\": %llu}", kernel->ptx_version,
           kernel->binary_version, (unsigned long long)kernel->cost_ns);
}

/* Reads every initial byte, so that a sanitizer sees them, but prints only short values. */
static void print_global(const struct image_global *global) {
    const unsigned char *initial = global->initial;
    unsigned sum = 0;
    printf("{\"name\": ");
    print_string(global->name);
    printf(", \"bytes\": %llu, \"initial\": ", (unsigned long long)global->bytes);
    if (initial == NULL) {
        printf("null}");
        return;
    }
    putchar('"');
    for (uint64_t i = 0; i < global->bytes; i++) {
        sum += initial[i];
        if (i < 64)
            printf("%02x", initial[i]);
    }
    printf("\", \"sum\": %u}", sum);
}

static void print_image(const struct image *image) {
    printf("{\"kernels\": [");
    for (size_t i = 0; i < image->kernel_count; i++) {
        printf("%s", i ? ", " : "");
        print_kernel(&image->kernels[i]);
    }
    printf("], \"globals\": [");
    for (size_t i = 0; i < image->global_count; i++) {
        printf("%s", i ? ", " : "");
        print_global(&image->globals[i]);
    }
    printf("]}\n");
}

static void print_refusal(int error, const char *why) {
    printf("{\"error\": %d, \"why\": ", -error);
    print_string(why);
    printf("}\n");
}

static void dump(const struct options *options, const void *data, size_t size) {
    struct {
        unsigned magic, version;
        const void *fatbin, *more;
    } wrapper = {0x466243b1, 1, data, NULL};
    struct image *const untouched = (struct image *)&wrapper;
    struct image *image = untouched;
    char why[256] = "";
    int error;
    if (options->wrapper)
        error = image_load(&wrapper, 0, options->capability, &image, why, sizeof why);
    else
        error = image_load(data, options->unknown_size ? 0 : size, options->capability, &image, why,
                           sizeof why);
    if (error != 0 && (image != untouched || why[0] == '\0'))
        abort();
    if (error != 0)
        print_refusal(error, why);
    else
        print_image(image);
    if (error == 0)
        image_free(image);
    fflush(stdout);
}

/* One image of known size; false at the end of the input. */
static bool dump_from(const struct options *options, FILE *file, size_t size) {
    /* malloc(0) may be NULL, and a size of 0 would mean unknown: the empty image is one NUL. */
    char *data = malloc(size == 0 ? 1 : size);
    if (data == NULL)
        return false;
    data[0] = '\0';
    bool whole = fread(data, 1, size, file) == size;
    if (whole)
        dump(options, data, size);
    free(data);
    return whole;
}

static int dump_file(const struct options *options, const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "image_dump: cannot read %s: %s\n", path, strerror(errno));
        return 1;
    }
    long size = ftell(file);
    rewind(file);
    bool whole = size >= 0 && dump_from(options, file, (size_t)size);
    fclose(file);
    return whole ? 0 : 1;
}

static void dump_stream(const struct options *options) {
    unsigned size;
    while (fread(&size, sizeof size, 1, stdin) == 1)
        if (!dump_from(options, stdin, size))
            return;
}

int main(int count, char **arguments) {
    struct options options = {.capability = 75};
    int failed = 0;
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--capability") == 0 && i + 1 < count)
            options.capability = atoi(arguments[++i]);
        else if (strcmp(arguments[i], "--unknown-size") == 0)
            options.unknown_size = true;
        else if (strcmp(arguments[i], "--wrapper") == 0)
            options.wrapper = true;
        else if (strcmp(arguments[i], "--stream") == 0)
            options.stream = true;
        else
            failed |= dump_file(&options, arguments[i]);
    }
    if (options.stream)
        dump_stream(&options);
    return failed;
}
