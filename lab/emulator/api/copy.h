/* Copies as the program describes them, turned into tasks: shared by all forms of memcpy, and by
 * the copy nodes of graphs. */
#ifndef NVSHARE_EMULATOR_COPY_H
#define NVSHARE_EMULATOR_COPY_H

#include "../process/task.h"

/* The program's claim about the address of one side. */
enum side_claim {
    SIDE_IS_HOST,   /* anything the CPU or the driver can reach */
    SIDE_IS_DEVICE, /* must be known to the driver */
    SIDE_IS_ANY,    /* found out by a lookup */
};

struct copy_claims {
    enum side_claim from, to;
};

/* The kinds of memory found at the addresses. */
struct copy_nature {
    bool pageable;    /* a side is memory of the program that the driver does not know */
    bool to_device;   /* a line from such memory to memory of a GPU; */
    bool from_device; /* or the other way */
    bool device_only; /* both sides are device memory: the host need not wait */
};

/* Fails with INVALID_VALUE if a side extends beyond its allocation. */
CUresult copy_check(const struct copy_task *copy, struct copy_claims claims,
                    struct copy_nature *nature);

/* A checked copy in a stream. */
enum copy_mode { COPY_SYNC, COPY_ASYNC };
CUresult copy_do(CUstream handle, enum copy_mode mode, const struct copy_task *copy,
                 struct copy_claims claims);

/* A checked copy of pageable memory, made by the calling thread. */
CUresult copy_staged(struct CUstream_st *stream, const struct copy_task *copy,
                     const struct copy_nature *nature);

/* A copy of `bytes` in one piece. */
struct copy_task copy_line(uint64_t to, uint64_t from, size_t bytes);

/* A box as cuMemcpy3D takes it; and the same with its claims, not yet checked. */
CUresult copy_from_box(const CUDA_MEMCPY3D *box, struct copy_task *out);
CUresult copy_read_box(const CUDA_MEMCPY3D *box, struct copy_task *out, struct copy_claims *claims);

#endif
