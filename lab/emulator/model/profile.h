/* The content of node.conf: the constants of the model. The emulator has no other constants of a
 * card. The names are the keys of the file, which the Python side writes from the TOML profiles. */
#ifndef NVSHARE_EMULATOR_PROFILE_H
#define NVSHARE_EMULATOR_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_GPUS = 15 };

struct gpu_profile {
    char name[64];
    char uuid[48];
    uint64_t pci_bus;
    uint64_t compute_major, compute_minor;
    uint64_t multiprocessors, cores_per_multiprocessor;
    uint64_t clock_khz, memory_clock_khz, memory_bus_bits, l2_bytes;
    uint64_t shared_per_block_optin, shared_per_multiprocessor;
    uint64_t threads_per_multiprocessor, blocks_per_multiprocessor, copy_engines;
    uint64_t memory_bytes;  /* as NVML counts it */
    uint64_t usable_bytes;  /* as cuMemGetInfo counts it */
    uint64_t context_bytes; /* taken by every context */
    uint64_t bandwidth;     /* bytes/s of device memory, as kernels achieve it */
    uint64_t h2d_bandwidth, d2h_bandwidth, peer_bandwidth;
    uint64_t duplex_permille;       /* both directions together, of one alone */
    uint64_t pageable_bandwidth;    /* bytes/s of memory that is not page-locked */
    uint64_t fault_bandwidth;       /* bytes/s paged in by faults */
    uint64_t fault_evict_bandwidth; /* bytes/s pushed out while a fault is served */
    uint64_t populate_bandwidth;    /* bytes/s of first touch */
    /* Per block, of the calling thread: */
    uint64_t host_page_ns;  /* its pages on the host are allocated, once */
    uint64_t host_map_ns;   /* they are mapped for the CPU */
    uint64_t host_unmap_ns; /* and unmapped */
    uint64_t service_ns;    /* a migrate call reaches it, whether it moves or not */
    uint64_t evict_ns;      /* a victim is picked and unmapped */
    /* Memory with handles: whether it is supported, and its costs per call and per block. */
    uint64_t handles_supported;
    uint64_t handle_create_ns, handle_create_block_ns;
    uint64_t handle_map_ns;
    uint64_t handle_access_ns, handle_access_block_ns;
    uint64_t handle_unmap_ns, handle_unmap_block_ns;
    uint64_t handle_release_ns, handle_release_block_ns;
    uint64_t handle_reserve_ns;
    /* Page-locked host memory: the cost of a call, and of 2 MiB of pages locked and unlocked. */
    uint64_t host_register_ns, host_lock_block_ns, host_unlock_block_ns;
    uint64_t slice_ns, switch_ns, kernel_floor_ns, launch_ns, context_create_ns;
    uint64_t queue_depth;
    uint64_t pcie_generation, pcie_width;
    uint64_t power_idle_mw, power_limit_mw, temperature_idle_c, temperature_busy_c;
};

struct node_profile {
    char name[64];
    double speed;        /* emulated seconds per real second */
    bool data;           /* copies and kernels move bytes */
    uint64_t host_bytes; /* for pages of managed memory; 0: no limit */
    uint32_t gpu_count;
};

/* Reads node.conf. Returns 0, or -EINVAL/-errno with a sentence in `why`. */
int profile_read(const char *path, struct node_profile *node, struct gpu_profile *gpus, char *why,
                 size_t why_bytes);

#endif
