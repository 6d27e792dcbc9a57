/* The state of an emulated node: everything its processes share, in one mapped file.
 *
 * Rules that keep it usable when a process is killed at any instruction:
 *  - Everything is changed under node.lock, a robust mutex. A process that finds it abandoned runs
 *    node_recover(), which recomputes derived state from primary state.
 *  - Primary are: the slot of a process, its counters of bytes, its queues, its blocks and their
 *    chunks, and the surplus of a GPU. Derived (and marked so) are: totals, the lists of chunks,
 *    the lists of active queues.
 *  - There are no pointers and no linked lists in here, only arrays and indices.
 *  - A process is alive as long as its worker thread holds slot.life, a robust mutex too.
 *
 * Times are emulated nanoseconds since the node began, amounts are bytes.
 */
#ifndef NVSHARE_EMULATOR_STATE_H
#define NVSHARE_EMULATOR_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile.h"

enum {
    MAX_PROCESSES = 512,
    MAX_QUEUES = 128,   /* per process; streams beyond that share queues, as on hardware */
    QUEUE_SLOTS = 1024, /* operations a queue can hold; a profile may allow fewer */
    REFERENCE_SLOTS = 2048,
    MAX_RANGES = 32768,      /* managed allocations per process (small ones share a block) */
    MAX_BLOCKS = 1 << 19,    /* 1 TiB of managed memory per process */
    LISTED_CHUNKS = 1 << 21, /* room in a list of chunks, of which at most half are valid */
    BUSY_BUCKETS = 64,
    NAME_BYTES = 64,
};

#define BLOCK_BYTES    ((uint64_t)2 << 20)
#define BUSY_BUCKET_NS ((uint64_t)100 * 1000 * 1000)
#define NO_INDEX       UINT32_MAX

/* Where a block of managed memory is. A GPU's number is its index + LOCATION_GPU. */
enum location { LOCATION_NOWHERE = 0, LOCATION_HOST = 1, LOCATION_GPU = 2 };

/* The host side of a block. Pages stay until the range is freed, even while the block is on a GPU
 * (published driver: callers of uvm_cpu_chunk_free). */
enum host_flags {
    HOST_PAGES = 1,
    HOST_MAPPED = 2, /* the CPU can reach them without a fault */
};

struct block {
    uint8_t location;
    uint8_t preferred;     /* a location, LOCATION_NOWHERE = no preference */
    uint8_t last_prefetch; /* a location */
    uint8_t read_mostly;
    uint16_t accessed_by; /* one bit per GPU; bit 15: the host */
    uint8_t host;         /* flags */
    uint8_t arriving;     /* copies to the GPU that are queued and not done */
    uint8_t busy_gpu;
    uint64_t busy_until; /* its chunk is being copied out until that GPU's out_done is here */
};

/* A run of blocks that was allocated together and is used together. */
struct range {
    uint32_t in_use;
    uint32_t first_block;
    uint32_t blocks;
};

/* A part of a range that an operation touches. */
struct reference {
    uint32_t range;
    uint32_t first_block;
    uint32_t blocks;
    uint32_t spare;
    uint64_t bytes; /* of the allocation inside those blocks */
};

enum operation_kind {
    OPERATION_MARKER,   /* nothing to do: an event */
    OPERATION_WAIT,     /* until another queue has reached a ticket */
    OPERATION_HOST,     /* until the process says it is done: a host function */
    OPERATION_WORK,     /* an amount of work on an engine: a kernel, a copy, a memset */
    OPERATION_PREFETCH, /* managed blocks to a place */
};

enum engine { ENGINE_COMPUTE, ENGINE_BUS_IN, ENGINE_BUS_OUT, ENGINE_FAULT, ENGINE_NONE };

/* The kind of the current stretch. */
enum stretch {
    STRETCH_FIRST,    /* not begun */
    STRETCH_PLAIN,    /* the part of the work that touches no managed memory */
    STRETCH_RESIDENT, /* managed blocks that are on the GPU */
    STRETCH_REMOTE,   /* managed blocks read over the bus where they are */
    STRETCH_ARRIVING, /* blocks on their way to the target, by a fault */
    STRETCH_WAITING,  /* for a copy that another operation has queued */
};

/* The progress of the thread that carries out a prefetch; see migrate.c. */
enum pass { PASS_TRANSFER, PASS_AGAIN, PASS_OVER };

enum operation_flags {
    OPERATION_FIXED_COST = 1, /* touching resident blocks costs nothing beyond `amount` */
    OPERATION_OVERWRITES = 2, /* first touch needs no zeroing */
    OPERATION_READS_ONLY = 4, /* blocks are read where they are */
    OPERATION_UNTIL_TOLD =
        8, /* a kernel that spins: on the engine until its process says that it ends */
};

/* The amount of such a kernel: it never ends by itself. */
#define UNTIL_TOLD_NS ((uint64_t)1 << 62)

struct operation {
    uint8_t kind;
    uint8_t engine;
    uint8_t flags;
    uint8_t target; /* the location that blocks go to. A prefetch begins with it */
    uint16_t references;
    uint8_t host_ready; /* a host function may run now */
    uint8_t host_done;  /* it has run; or the wait of a kernel that spins is over */
    uint8_t abandoned;  /* its context had died before it was done */
    uint32_t wait_queue;
    uint32_t across; /* a wait for another GPU's queue */
    uint64_t wait_ticket;
    uint64_t first_reference; /* counts on; modulo REFERENCE_SLOTS it is the place */
    uint64_t ready_at;        /* submission + launch latency */
    uint64_t amount;          /* ns on ENGINE_COMPUTE, bytes on a bus */

    /* Progress. Of a prefetch, this is the thread's part. */
    uint8_t stretch;
    uint8_t stretch_engine;
    uint8_t moves;   /* the stretch takes blocks from the GPU to the host, or back */
    uint8_t serving; /* the fault of this stretch is being served: the engine is held */
    uint16_t at_reference;
    uint32_t at_block; /* within the reference */
    uint32_t stretch_blocks;
    double left; /* of the stretch: ns on compute and fault and of a thread, bytes on a bus */

    /* Of a prefetch: the thread, and the copies to the GPU that follow it. */
    uint8_t pass;
    uint8_t deferred; /* the stream had work: a thread of the driver calls, not the program's */
    uint8_t issued;   /* the call has returned; the GPU has the rest */
    uint8_t again;    /* the second pass has sent a block again */
    uint8_t copy_walk;
    uint8_t copies_over;
    uint8_t awaits_gpu;
    int32_t error; /* 0 or a negative errno, returned to the caller */
    uint16_t copy_reference;
    uint32_t copy_block, copy_blocks;
    uint32_t blocks;      /* in all */
    uint32_t to_issue;    /* that the first pass has yet to reach */
    uint64_t awaits;      /* the thread waits until awaits_gpu's out_done is here; 0: it does not */
    uint64_t copy_awaits; /* the same for the copies, on the target */
    uint64_t last_copy;   /* out_queued after the last block that it sent to the host */
    uint64_t to_copy;     /* bytes issued to the GPU and not there yet */
    double copy_left;     /* bytes */
    uint64_t started_at;
    uint64_t finished_at;
    uint64_t completion; /* place in the order in which the process's operations finished */
};

struct queue {
    uint32_t in_use;
    uint8_t gpu;
    uint8_t active; /* derived: is in the GPU's list of queues with work */
    int16_t priority;
    uint32_t context;   /* queues of one context run without switching */
    uint32_t failed;    /* its context has died of a fault: none of its work runs any more */
    uint64_t submitted; /* tickets given out; the ticket of an operation is its number + 1 */
    uint64_t completed; /* by the model */
    uint64_t reaped;    /* effects carried out by the process; their slots are free again */
    uint64_t references_submitted;
    uint64_t references_done;
    struct operation operations[QUEUE_SLOTS];
    struct reference references[REFERENCE_SLOTS];
};

/* The part of one GPU that one process has and has used. */
struct account {
    uint64_t plain_bytes;
    uint64_t context_bytes;
    uint32_t contexts;
    uint32_t resident_blocks; /* derived: blocks that are on the GPU */
    uint32_t chunks;          /* derived: of these, and of blocks that have left and kept theirs */
    uint64_t compute_ns;      /* on the compute engine */
    uint64_t fault_ns;        /* faults being served */
    uint64_t in_bytes, out_bytes;
    uint64_t kernels;
    uint64_t busy_bucket[BUSY_BUCKETS]; /* number of the bucket; */
    uint32_t busy_ns[BUSY_BUCKETS];     /* and the busy time in it */
};

/* The resources that a process has yet to give back. Written by the process alone. */
enum resource {
    RESOURCE_HANDLES,
    RESOURCE_MAPPINGS,
    RESOURCE_RESERVATIONS,
    RESOURCE_REGISTRATIONS,
    RESOURCE_HOST,
    RESOURCES
};

struct slot {
    uint32_t in_use;
    int32_t pid;
    uint32_t uid;
    uint32_t generation;
    uint64_t began_at;
    pthread_mutex_t life;
    char name[NAME_BYTES];
    uint32_t queue_limit; /* all in use are below */
    uint32_t range_limit;
    uint32_t range_hint; /* none below is free */
    uint32_t block_limit;
    uint32_t host_blocks;  /* derived: blocks with host pages, each charged to this process */
    uint32_t doomed;       /* has too many host pages: its own thread ends the process */
    uint64_t host_limit;   /* bytes; 0: none (host.h) */
    uint64_t cgroup;       /* its memory cgroup; 0: none that limits it */
    uint64_t cgroup_limit; /* bytes */
    uint64_t cgroup_bytes; /* really used in it, as this process saw last */
    uint32_t resources[RESOURCES];
    struct account accounts[MAX_GPUS];
    struct queue queues[MAX_QUEUES];
    struct range ranges[MAX_RANGES];
    struct block blocks[MAX_BLOCKS];
    /* The chunk that a block has on a GPU: its place in the order of service, 0: none. It is USED
     * while the block is there, and UNUSED after the block has left. */
    uint64_t chunks[MAX_GPUS][MAX_BLOCKS];
};

/* Chunks in the order in which they would be taken. Outdated entries are skipped (chunks.c). */
struct chunk_list {
    uint32_t head, tail;
    struct listed {
        uint64_t order;
        uint32_t slot, block;
    } entries[LISTED_CHUNKS];
};

struct active_queue {
    uint16_t slot;
    uint16_t queue;
};

struct gpu {
    struct gpu_profile profile;
    uint64_t clock; /* the model has been advanced to here */

    /* The compute engine: the context on it, and for how long. */
    uint32_t current_slot;
    uint32_t current_context;
    double slice_left;
    double switch_left;

    uint64_t plain_bytes;     /* derived */
    uint64_t context_bytes;   /* derived */
    uint32_t resident_blocks; /* derived */
    uint32_t chunks;          /* derived */
    uint32_t surplus;         /* chunks that the driver has taken in a batch and not used yet */
    uint64_t stolen_bytes;    /* memory of an owner that is no process here (nvml/faults.h) */
    uint64_t scrubbed_at;     /* all free memory will be zero (scrub.h) */

    /* Copies of managed memory to the host, one after the other, in bytes since the beginning. */
    uint64_t out_queued;
    double out_done;

    /* Injected faults (nvml/faults.h). */
    uint32_t is_lost, is_unsupported, needs_reset, last_xid;
    uint64_t xids; /* number of them so far */

    uint64_t switches, faults, in_bytes, out_bytes, busy_total_ns;
    uint64_t evictions; /* blocks that were pushed out */
    uint64_t reclaims;  /* chunks that were taken from blocks which had left */
    uint64_t cancelled; /* batches of faults */
    /* Of managed memory: by prefetches, faults and evictions. Copies of programs do not count. */
    uint64_t moved_in_bytes, moved_out_bytes, moving_ns;
    uint64_t busy_bucket[BUSY_BUCKETS];
    uint32_t busy_ns[BUSY_BUCKETS];

    uint32_t active_count; /* derived */
    struct active_queue active[MAX_PROCESSES * MAX_QUEUES];
    struct chunk_list used, unused; /* derived */
};

struct node {
    uint64_t magic; /* written last */
    uint64_t epoch; /* CLOCK_MONOTONIC, real ns */
    struct node_profile profile;
    pthread_mutex_t lock;
    uint64_t completions;
    uint64_t services;      /* numbers given out for the order of service */
    uint32_t host_blocks;   /* derived */
    uint64_t calls_free_at; /* the lock that calls take one after the other (process/toll.h) */
    uint64_t last_reap;
    uint64_t deaths;       /* processes whose slot was taken back */
    uint64_t recoveries;   /* of the lock from a dead owner */
    uint32_t slot_limit;   /* all in use are below */
    uint32_t waits_across; /* derived: pending waits of one GPU's queue for another GPU's */
    struct gpu gpus[MAX_GPUS];
    struct slot slots[MAX_PROCESSES];
};

#endif
