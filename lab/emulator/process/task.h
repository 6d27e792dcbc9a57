/* Tasks: the units of work of a stream. A stream that is being captured keeps tasks as the nodes of
 * a graph. Any other hands them to its queue; launching a graph does so node by node. */
#ifndef NVSHARE_EMULATOR_TASK_H
#define NVSHARE_EMULATOR_TASK_H

#include "context.h"
#include "worker.h"

struct event_record;
struct function;

enum task_kind {
    TASK_NOTHING, /* an empty node of a graph */
    TASK_KERNEL,
    TASK_COPY,
    TASK_FILL,
    TASK_HOST,
    TASK_EVENT_RECORD,
    TASK_EVENT_WAIT,
    TASK_ALLOCATE, /* stream-ordered: the memory exists already, this is its place in the order */
    TASK_FREE,
    TASK_PREFETCH,
    TASK_WRITE_VALUE,
    TASK_WAIT_VALUE,
};

/* A kernel with a copy of its parameters, laid out as the kernel gets them. */
struct kernel_task {
    struct function *function;
    unsigned grid[3], block[3];
    unsigned shared_bytes;
    bool cooperative;
    unsigned parameter_bytes;
    unsigned char *parameters; /* owned by the task */
};

/* One box of bytes from one place to another; a plain copy is a box of one row. */
struct copy_task {
    struct copy_side {
        uint64_t address; /* of the first byte, in any memory */
        size_t pitch, height;
        uint32_t reacher; /* the GPU that accesses it, + 1; 0: the stream's */
    } from, to;
    size_t width, rows, layers; /* bytes, rows per layer, layers */
    bool staged;                /* the bytes of `from`, a line, are taken as the copy is queued */
};

struct fill_task {
    uint64_t address;
    size_t pitch, width, rows; /* width in elements */
    unsigned element_bytes;    /* 1, 2 or 4 */
    uint32_t value;
};

struct task {
    enum task_kind kind;
    union {
        struct kernel_task kernel;
        struct copy_task copy;
        struct fill_task fill;
        struct {
            CUhostFn function;
            void *data;
        } host;
        struct {
            CUevent event;
            unsigned flags;
        } event;
        struct {
            uint64_t address;
        } memory;
        struct {
            uint64_t address;
            size_t bytes;
            uint8_t target; /* a location of model/state.h */
        } prefetch;
        struct {
            uint64_t address, value;
            unsigned bytes, flags;
        } value;
    };
};

/* Does a task in a stream: captures it, or queues it and returns its ticket. The task's parameters
 * are copied as needed; the caller keeps its own. */
CUresult stream_do(struct CUstream_st *stream, const struct task *task, uint64_t *ticket);

/* The same, and waits until it is done. Not allowed while the stream is captured. */
CUresult stream_do_and_wait(struct CUstream_st *stream, const struct task *task);

/* Queues a task, past any capture: for launching graphs. */
CUresult task_queue(struct CUstream_st *stream, const struct task *task, uint64_t *ticket);

/* Makes and frees a deep copy for a graph. */
CUresult task_copy(const struct task *task, struct task *out);
void task_drop(struct task *task);

/* Hands an operation to the stream's queue, after the waits that the rules of the default stream
 * demand. `touch` may be NULL. */
struct touch;
uint64_t stream_push(struct CUstream_st *stream, struct operation operation,
                     const struct touch *touch, struct effect effect);

/* The same for an operation that ends when `poll` says so (worker.h). Only with the model on. */
uint64_t stream_push_poll(struct CUstream_st *stream, struct operation operation,
                          const struct touch *touch, struct effect effect, poll_function *poll);

/* Makes the stream wait for a ticket of another queue of this process. */
void stream_push_wait(struct CUstream_st *stream, uint32_t queue, uint64_t ticket);

/* The memory that a kernel touches; and, added to an effect, the addresses that it reaches. With
 * the driver's lock held. */
struct sweep;
void kernel_touch(const struct kernel_task *kernel, struct touch *touch, struct sweep *sweep);
void kernel_reach(const struct kernel_task *kernel, uint32_t gpu, struct effect *effect);

/* Whether a kernel of ours reaches host memory only. */
bool kernel_waits_for_host(const struct kernel_task *kernel);

/* One file per kind. */
CUresult queue_kernel(struct CUstream_st *stream, const struct kernel_task *kernel,
                      uint64_t *ticket);
CUresult queue_copy(struct CUstream_st *stream, const struct copy_task *copy, uint64_t *ticket);
CUresult queue_fill(struct CUstream_st *stream, const struct fill_task *fill, uint64_t *ticket);
CUresult queue_prefetch(struct CUstream_st *stream, const struct task *task, uint64_t *ticket);
CUresult queue_event_record(struct CUstream_st *stream, CUevent event, uint64_t *ticket);
CUresult queue_event_wait(struct CUstream_st *stream, CUevent event, uint64_t *ticket);
CUresult queue_free(struct CUstream_st *stream, uint64_t address, uint64_t *ticket);
CUresult queue_write_value(struct CUstream_st *stream, const struct task *task, uint64_t *ticket);
CUresult queue_wait_value(struct CUstream_st *stream, const struct task *task, uint64_t *ticket);

#endif
