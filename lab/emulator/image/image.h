/* Code images as CUDA programs hand them to the driver: PTX text, cubins (ELF) and fatbins of both.
 *
 * Reads the data that the emulated GPU needs to launch a kernel: names, parameter layout, resource
 * use, global variables. It never reads instructions. Input is not trusted: every length is
 * checked, except those that only the caller can know (see image_load).
 */
#ifndef NVSHARE_EMULATOR_IMAGE_H
#define NVSHARE_EMULATOR_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct image_parameter {
    uint32_t offset, size;
};

struct image_kernel {
    char *name;
    /* In order of declaration; each lies within parameter_bytes. A cubin without parameter records
     * has a count of 0 and still states the total. */
    struct image_parameter *parameters;
    uint32_t parameter_count, parameter_bytes;
    int registers; /* 0: not known, as in PTX, where the compiler decides the count */
    int shared_bytes, local_bytes;
    int constant_bytes;      /* user constants of the whole module, as the driver reports them */
    int max_threads;         /* 0: no bound given */
    int required_threads[3]; /* all 0: free choice */
    int ptx_version, binary_version; /* 75 stands for 7.5 */
    uint64_t cost_ns;                /* 0: not given by the module */
};

struct image_global {
    char *name;
    uint64_t bytes;
    const void *initial; /* NULL: zeros. Owned by the image. Addresses in it are left as zeros. */
};

struct image {
    struct image_kernel *kernels;
    size_t kernel_count;
    struct image_global *globals;
    size_t global_count;
    size_t bytes; /* of the chosen code, unpacked */
};

/* Reads an image for a device of the given compute capability (75 stands for 7.5).
 *
 * A size of 0 means unknown, because cuModuleLoadData passes none: PTX then ends with a NUL, and
 * ELF and fatbin state their own size, which has to be trusted. A fatbin wrapper holds an address
 * and is therefore accepted with an unknown size only: with a known one it would be file content.
 *
 * Returns 0, or
 *   -EINVAL   the PTX is not valid            (CUDA_ERROR_INVALID_PTX)
 *   -EBADMSG  a cubin or fatbin is damaged    (CUDA_ERROR_INVALID_IMAGE)
 *   -ENOEXEC  nothing in it for this device   (CUDA_ERROR_NO_BINARY_FOR_GPU)
 *   -ENOTSUP  it cannot be read here, such as a compression whose library is not installed
 *   -ENOMEM
 * and then *out is untouched and `why`, if given, holds one sentence for the user.
 */
int image_load(const void *data, size_t size, int compute_capability, struct image **out, char *why,
               size_t why_bytes);

void image_free(struct image *image);

#endif
