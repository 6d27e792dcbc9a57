/* The access of an NVML call to the node: initialised, with good arguments, and with the lock held.
 *
 * A call begins with LOOK_AT_GPU or LOOK_AT_NODE. That line declares `look`, returns from the
 * function with the documented error if there is one, and releases the locks however the function
 * is left. */
#ifndef NVSHARE_EMULATOR_NVML_LOOK_H
#define NVSHARE_EMULATOR_NVML_LOOK_H

#include <nvml.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/state.h"

struct look {
    nvmlReturn_t error;
    struct node *node; /* NULL on an error */
    struct gpu *gpu;   /* NULL for the node as a whole */
    uint32_t index;
    uint64_t now; /* emulated ns, to which the model has been advanced */
};

struct look look_at_gpu(nvmlDevice_t device, bool arguments_are_good);
struct look look_at_node(bool arguments_are_good);
void look_away(struct look *look);

/* The handle of a GPU, and back: the index, or NO_INDEX if it is no handle of this node. */
nvmlDevice_t handle_of(uint32_t index);
uint32_t index_of(const struct look *look, nvmlDevice_t device);

/* clang-format off */
#define LOOK(how)                                                                                  \
    __attribute__((cleanup(look_away))) struct look look = how;                                    \
    if (look.error != NVML_SUCCESS)                                                                \
        return look.error
/* clang-format on */

#define LOOK_AT_GPU(device, arguments_are_good) LOOK(look_at_gpu(device, arguments_are_good))
#define LOOK_AT_NODE(arguments_are_good)        LOOK(look_at_node(arguments_are_good))

/* A whole function that answers one value; the value may depend on `look`. The declaration at the
 * end takes the semicolon. */
#define ANSWER(function, type, value)                                                              \
    nvmlReturn_t function(nvmlDevice_t device, type *out) {                                        \
        LOOK_AT_GPU(device, out);                                                                  \
        *out = (type)(value);                                                                      \
        return NVML_SUCCESS;                                                                       \
    }                                                                                              \
    struct look

/* A whole function that a board of this kind does not support. That is an answer, not a gap in the
 * emulator, so nothing is printed to stderr. */
/* clang-format off */
#define REFUSE(function, arguments_are_good, ...)                                                  \
    _Pragma("GCC diagnostic push")                                                                 \
    _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"")                                       \
    nvmlReturn_t function(nvmlDevice_t device, __VA_ARGS__) {                                      \
        LOOK_AT_GPU(device, arguments_are_good);                                                   \
        return NVML_ERROR_NOT_SUPPORTED;                                                           \
    }                                                                                              \
    _Pragma("GCC diagnostic pop")                                                                  \
    struct look
/* clang-format on */

#endif
