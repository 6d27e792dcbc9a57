/* Attaching to an emulated node, its lock, and the slots of its processes. */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine.h"
#include "recover.h"
#include "scrub.h"

/* "hareNode", and the size of the state, so that a state with another layout is not used. */
#define NODE_MAGIC (UINT64_C(0x65646f4e65726168) + sizeof(struct node))

/* A process that looks at the node notices a death within this much emulated time. */
#define REAP_INTERVAL_NS UINT64_C(50000000)

static uint64_t real_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t node_now(const struct node *node) {
    return (uint64_t)((double)(real_now() - node->epoch) * node->profile.speed);
}

uint64_t node_real_time(const struct node *node, uint64_t emulated) {
    return node->epoch + (uint64_t)((double)emulated / node->profile.speed);
}

static void init_robust_mutex(pthread_mutex_t *mutex) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

/* Fills a fresh state file. A process killed in the middle leaves magic unset; the next one, which
 * waits for the file lock, begins anew. */
static int node_create(struct node *node, const char *folder, char *why, size_t why_bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/node.conf", folder);
    struct gpu_profile gpus[MAX_GPUS];
    char reason[300];
    int result = profile_read(path, &node->profile, gpus, reason, sizeof reason);
    if (result < 0) {
        snprintf(why, why_bytes, "cannot read %.3000s: %s", path, reason);
        return result;
    }
    for (uint32_t i = 0; i < node->profile.gpu_count; i++) {
        node->gpus[i].profile = gpus[i];
        node->gpus[i].current_slot = NO_INDEX;
    }
    init_robust_mutex(&node->lock);
    node->epoch = real_now();
    __atomic_store_n(&node->magic, NODE_MAGIC, __ATOMIC_RELEASE);
    return 0;
}

static int make_or_check(struct node *node, const char *folder, char *why, size_t why_bytes) {
    uint64_t magic = __atomic_load_n(&node->magic, __ATOMIC_ACQUIRE);
    if (magic == 0)
        return node_create(node, folder, why, why_bytes);
    if (magic == NODE_MAGIC)
        return 0;
    snprintf(why, why_bytes,
             "the node in %.3000s was made by another version of nvshare: remove it with "
             "`nvshare emulate down`, and start it again with `nvshare emulate up`",
             folder);
    return -EPROTO;
}

static int map_state(int file, struct node **out) {
    if (ftruncate(file, (off_t)sizeof(struct node)) < 0)
        return -errno;
    /* Most of it is never touched. The kernel does not reserve memory for a file; qemu's user mode
     * would. */
    void *memory = mmap(NULL, sizeof(struct node), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, file, 0);
    if (memory == MAP_FAILED)
        return -errno;
    madvise(memory, sizeof(struct node), MADV_DONTDUMP);
    *out = memory;
    return 0;
}

/* Only a folder with a node.conf gets a state: a wrong name leaves nothing behind. */
static int open_state(const char *folder, char *why, size_t why_bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/node.conf", folder);
    if (access(path, R_OK) < 0) {
        int error = errno;
        snprintf(why, why_bytes, "%.3000s is not an emulated node: no node.conf in it (%s)", folder,
                 strerror(error));
        return -error;
    }
    snprintf(path, sizeof path, "%s/state", folder);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) {
        int error = errno;
        snprintf(why, why_bytes, "cannot open %.3000s: %s", path, strerror(error));
        return -error;
    }
    return file;
}

int node_attach(struct node **out, char *why, size_t why_bytes) {
    const char *folder = getenv("NVSHARE_EMULATOR_NODE");
    if (!folder || !*folder) {
        snprintf(why, why_bytes,
                 "this is the emulated driver, and NVSHARE_EMULATOR_NODE names no node; start the "
                 "program with: nvshare emulate -- PROGRAM");
        return -ENODEV;
    }
    return node_attach_folder(folder, out, why, why_bytes);
}

int node_attach_folder(const char *folder, struct node **out, char *why, size_t why_bytes) {
    int file = open_state(folder, why, why_bytes);
    if (file < 0)
        return file;
    flock(file, LOCK_EX);
    struct node *node = NULL;
    int result = map_state(file, &node);
    if (result < 0)
        snprintf(why, why_bytes, "cannot map the state of the node: %s", strerror(-result));
    else
        result = make_or_check(node, folder, why, why_bytes);
    /* Not left to close(): the mapping keeps the open file, and with it the lock, alive. */
    flock(file, LOCK_UN);
    close(file);
    if (result == 0)
        *out = node;
    else if (node)
        node_detach(node);
    return result;
}

void node_detach(struct node *node) {
    munmap(node, sizeof(struct node));
}

uint64_t node_lock(struct node *node) {
    if (pthread_mutex_lock(&node->lock) == EOWNERDEAD) {
        node_recover(node);
        pthread_mutex_consistent(&node->lock);
    }
    uint64_t now = node_now(node);
    if (now - node->last_reap >= REAP_INTERVAL_NS) {
        node->last_reap = now;
        engine_advance(node, now);
        node_reap(node);
    }
    engine_advance(node, now);
    return now;
}

void node_unlock(struct node *node) {
    pthread_mutex_unlock(&node->lock);
}

static void read_process_name(char *name, size_t bytes) {
    memset(name, 0, bytes);
    int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t got = read(file, name, bytes - 1);
    close(file);
    name[got > 0 ? got - 1 : 0] = '\0';
}

int node_join(struct node *node) {
    uint64_t now = node_lock(node);
    node_reap(node);
    uint32_t index = 0;
    while (index < MAX_PROCESSES && node->slots[index].in_use)
        index++;
    if (index == MAX_PROCESSES) {
        node_unlock(node);
        return -ENOSPC;
    }
    struct slot *slot = &node->slots[index];
    init_robust_mutex(&slot->life);
    pthread_mutex_lock(&slot->life);
    slot->pid = (int32_t)getpid();
    slot->uid = (uint32_t)getuid();
    slot->generation++;
    slot->began_at = now;
    read_process_name(slot->name, sizeof slot->name);
    if (index >= node->slot_limit)
        node->slot_limit = index + 1;
    __atomic_store_n(&slot->in_use, 1, __ATOMIC_RELEASE);
    node_unlock(node);
    return (int)index;
}

/* The mutex of a dead process can be taken; that of a live one is busy. Unlocked without having
 * been made consistent, it returns ENOTRECOVERABLE from then on. That also shows that the owner
 * died, in case the process that found out dies too before it has cleared the slot. */
static bool has_died(struct slot *slot) {
    int result = pthread_mutex_trylock(&slot->life);
    if (result == EOWNERDEAD)
        pthread_mutex_unlock(&slot->life);
    return result == EOWNERDEAD || result == ENOTRECOVERABLE;
}

void node_reap(struct node *node) {
    for (uint32_t i = 0; i < node->slot_limit; i++) {
        if (node->slots[i].in_use && has_died(&node->slots[i])) {
            node_clear_slot(node, i);
            node->deaths++;
        }
    }
    while (node->slot_limit && !node->slots[node->slot_limit - 1].in_use)
        node->slot_limit--;
}

/* Clears only the parts that were used: a slot is large and mostly untouched. */
void node_clear_slot(struct node *node, uint32_t index) {
    struct slot *slot = &node->slots[index];
    for (uint32_t i = 0; i < slot->queue_limit; i++) {
        struct queue *queue = &slot->queues[i];
        queue->completed = queue->reaped = queue->submitted;
        queue->references_done = queue->references_submitted;
        queue->active = 0; /* recount() no longer sees the queue, and its next owner trusts this */
        queue->failed = 0;
        queue->in_use = 0;
    }
    memset(slot->ranges, 0, slot->range_limit * sizeof slot->ranges[0]);
    memset(slot->blocks, 0, slot->block_limit * sizeof slot->blocks[0]);
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        memset(slot->chunks[g], 0, slot->block_limit * sizeof slot->chunks[g][0]);
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        scrub_begin(&node->gpus[g],
                    slot->accounts[g].plain_bytes + slot->accounts[g].context_bytes);
    memset(slot->accounts, 0, sizeof slot->accounts);
    memset(slot->resources, 0, sizeof slot->resources);
    slot->queue_limit = slot->range_limit = slot->range_hint = slot->block_limit = 0;
    slot->host_blocks = slot->doomed = 0;
    slot->host_limit = slot->cgroup = slot->cgroup_limit = slot->cgroup_bytes = 0;
    slot->pid = 0;
    /* Last: a process that is killed before this leaves a slot that is still known to be dead. */
    __atomic_store_n(&slot->in_use, 0, __ATOMIC_RELEASE);
    recount(node);
}
