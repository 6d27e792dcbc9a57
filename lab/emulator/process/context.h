/* Contexts, the stack of them that every thread has, and their streams. */
#ifndef NVSHARE_EMULATOR_CONTEXT_H
#define NVSHARE_EMULATOR_CONTEXT_H

#include "driver.h"

struct allocation;
struct function;

#define CONTEXT_MAGIC 0x43747831u
#define STREAM_MAGIC  0x53747231u

struct capture; /* a capture under way; see ../api/capture.h */

/* Where the last kernel of a stream began to touch its allocations; see kernel_task.c. */
enum { SWEEP_POINTERS = 16 };
struct sweep {
    const struct function *function;
    unsigned count;
    struct {
        uint64_t address, end; /* of the memory that it counts as touching */
    } pointer[SWEEP_POINTERS];
};

struct CUstream_st {
    uint32_t magic;
    struct CUctx_st *context;
    uint32_t queue;
    unsigned flags;
    int priority;
    uint64_t id;
    bool is_legacy;           /* the default stream that waits for all others */
    struct capture *capture;  /* NULL: not capturing */
    struct CUstream_st *next; /* of the context */
    struct sweep sweep;
};

struct CUctx_st {
    uint32_t magic;
    uint32_t number; /* of this process; the model switches between contexts */
    uint32_t gpu;
    unsigned flags;
    bool primary;
    uint32_t users;  /* of a primary context */
    CUresult failed; /* sticky error, returned by every later call */
    size_t limits[16];
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    struct CUstream_st *legacy;
    struct CUstream_st *streams; /* all others, the per-thread ones too */
    struct allocation *allocations;
    uint64_t code_bytes; /* of its loaded modules */
    uint32_t peers;      /* one bit per GPU whose contexts this one may reach */
    struct CUctx_st *next;
};

/* The calling thread's current context, or NULL. */
struct CUctx_st *context_current(void);
CUresult context_push(struct CUctx_st *context);
struct CUctx_st *context_pop(void);
void context_set(struct CUctx_st *context);

/* Creation takes the profile's time. Destruction drains, and frees everything it owns. */
CUresult context_create(uint32_t gpu, unsigned flags, struct CUctx_st **out);
void context_destroy(struct CUctx_st *context);
CUresult context_synchronize(struct CUctx_st *context);

/* The primary context of a GPU, made by the first call; with a reference for the caller. */
CUresult context_retain_primary(uint32_t gpu, struct CUctx_st **out);

/* From now on every call in the context, by its number, returns this. */
void context_fail(uint32_t number, CUresult error);

/* The sticky error of a context, if it exists and has one. */
CUresult context_error(const struct CUctx_st *context);

/* Does this context exist? */
bool context_exists(const struct CUctx_st *context);

/* Takes and returns room on the GPU for code that is loaded into a context. The second names the
 * context by its number, since it may be gone. */
CUresult context_take_code(struct CUctx_st *context, uint64_t bytes);
void context_give_code(uint32_t number, uint64_t bytes);

/* Allocations that are freed with the context. With the driver's lock held. */
void context_adopt(struct CUctx_st *context, struct allocation *allocation);
void context_disown(struct CUctx_st *context, struct allocation *allocation);

/* The stream behind a handle: NULL, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are resolved in the
 * calling thread's context, with the flavour the function was called in (api/flavour.h). */
CUresult stream_resolve(CUstream handle, struct CUstream_st **out);
CUresult stream_create(struct CUctx_st *context, unsigned flags, int priority,
                       struct CUstream_st **out);
void stream_destroy(struct CUstream_st *stream);
CUresult stream_synchronize(struct CUstream_st *stream);

/* First line of an API function that needs no context, but fails in one that is dead. */
#define REQUIRE_LIVE_CONTEXT()                                                                     \
    do {                                                                                           \
        REQUIRE_DRIVER();                                                                          \
        const struct CUctx_st *of_thread = context_current();                                      \
        if (__builtin_expect(of_thread && of_thread->failed != CUDA_SUCCESS, 0))                   \
            return of_thread->failed;                                                              \
    } while (0)

/* First line of an API function that works in the current context. */
#define REQUIRE_CONTEXT(name)                                                                      \
    REQUIRE_DRIVER();                                                                              \
    struct CUctx_st *name = context_current();                                                     \
    if (__builtin_expect(!name, 0))                                                                \
        return CUDA_ERROR_INVALID_CONTEXT;                                                         \
    if (__builtin_expect(name->failed != CUDA_SUCCESS, 0))                                         \
    return name->failed

#endif
