/* Kernels as the driver knows them. A CUfunction and a CUkernel are both a pointer to this. */
#ifndef NVSHARE_EMULATOR_FUNCTION_H
#define NVSHARE_EMULATOR_FUNCTION_H

#include "../image/image.h"
#include "driver.h"

#define FUNCTION_MAGIC 0x46756e31u

/* A call of a kernel of ours, which really computes; see ../kernels. `parameters` is laid out as
 * the kernel gets it. Addresses in it go through memory_resolve(). */
struct kernel_call {
    unsigned grid[3], block[3];
    const unsigned char *parameters;
    unsigned parameter_bytes;
};
typedef void kernel_body(const struct kernel_call *call);

/* One more look of a spinning kernel at memory. Returns whether the kernel ends. */
typedef bool kernel_spin(const struct kernel_call *call);

/* Memory that a kernel of ours reaches: the offset of its address in the parameters, and its
 * length. The last one of a list has elements of size 0. */
enum { ONE_ELEMENT = -1 };
struct kernel_span {
    unsigned pointer;
    int count; /* offset of the number of elements, or ONE_ELEMENT */
    uint64_t element;
};

struct module; /* owns the image; see ../api/module.h */

struct function {
    uint32_t magic;
    struct module *module;
    const struct image_kernel *image;
    kernel_body *body;                                /* NULL: timed, not computed */
    kernel_spin *spin;                                /* NULL: it ends by itself */
    uint64_t (*cost)(const struct kernel_call *call); /* ns; NULL: by the bytes touched */
    const struct kernel_span *spans;                  /* NULL: not known */
    int max_dynamic_shared;
    int preferred_carveout;
    CUfunc_cache cache_config;
};

static inline struct function *function_of(CUfunction handle) {
    struct function *function = (struct function *)handle;
    return function && function->magic == FUNCTION_MAGIC ? function : NULL;
}

/* The named kernels that compute: looked up when a module that has them is loaded. */
struct named_kernel {
    const char *name;
    kernel_body *body;
    uint64_t (*cost)(const struct kernel_call *call);
    const struct kernel_span *spans;
    kernel_spin *spin;
};
const struct named_kernel *kernels_find(const char *name);

#endif
