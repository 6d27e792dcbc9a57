/* Growing and releasing the parts of an image. Knows none of the formats. */
#include "build.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int image_refuse(const struct image_reason *why, int error, const char *format, ...) {
    if (why->text != NULL && why->size > 0) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(why->text, why->size, format, arguments);
        va_end(arguments);
    }
    return error;
}

int image_copy_name(const char *name, size_t length, char **out) {
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return -ENOMEM;
    memcpy(copy, name, length);
    copy[length] = '\0';
    *out = copy;
    return 0;
}

/* Room for one more element. The capacity is the next power of two, so that it need not be kept:
 * an array is full exactly when its count is zero or a power of two. */
static int make_room(void **array, size_t count, size_t element) {
    if ((count & (count - 1)) != 0)
        return 0;
    size_t capacity = count == 0 ? 1 : count * 2;
    if (capacity > SIZE_MAX / element)
        return -ENOMEM;
    void *grown = realloc(*array, capacity * element);
    if (grown == NULL)
        return -ENOMEM;
    *array = grown;
    return 0;
}

int image_take_kernel(struct image *image, const struct image_kernel *kernel) {
    void *array = image->kernels;
    int error = make_room(&array, image->kernel_count, sizeof *kernel);
    if (error != 0)
        return error;
    image->kernels = array;
    image->kernels[image->kernel_count++] = *kernel;
    return 0;
}

int image_take_global(struct image *image, const struct image_global *global) {
    void *array = image->globals;
    int error = make_room(&array, image->global_count, sizeof *global);
    if (error != 0)
        return error;
    image->globals = array;
    image->globals[image->global_count++] = *global;
    return 0;
}

int image_kernel_add_parameter(struct image_kernel *kernel, uint32_t offset, uint32_t size) {
    void *array = kernel->parameters;
    int error = make_room(&array, kernel->parameter_count, sizeof *kernel->parameters);
    if (error != 0)
        return error;
    kernel->parameters = array;
    kernel->parameters[kernel->parameter_count++] = (struct image_parameter){offset, size};
    return 0;
}

void image_kernel_release(struct image_kernel *kernel) {
    free(kernel->name);
    free(kernel->parameters);
}

void image_free(struct image *image) {
    if (image == NULL)
        return;
    for (size_t i = 0; i < image->kernel_count; i++)
        image_kernel_release(&image->kernels[i]);
    for (size_t i = 0; i < image->global_count; i++) {
        free(image->globals[i].name);
        free((void *)image->globals[i].initial);
    }
    free(image->kernels);
    free(image->globals);
    free(image);
}

int image_block_threads(const uint32_t dimensions[3]) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        threads *= dimensions[i];
        if (threads > INT_MAX)
            threads = INT_MAX;
    }
    return (int)threads;
}

bool image_binary_fits(int binary, bool specific, int device) {
    if (specific)
        return binary == device;
    return binary / 10 == device / 10 && binary <= device;
}

bool image_ptx_fits(int target, bool specific, bool family, int device) {
    if (specific)
        return target == device;
    if (family)
        return target / 10 == device / 10 && target <= device;
    return target <= device;
}
