#include "slot.h"

#include <errno.h>
#include <sys/mman.h>

#include "../contexts.h"
#include "../driver.h"
#include "log.h"

static void lock_pages(struct slot *slot, uint64_t context) {
    CUresult result = real.cuMemHostRegister_v2(slot->at, slot->bytes, CU_MEMHOSTREGISTER_PORTABLE);
    if (result == CUDA_SUCCESS)
        slot->context = context;
    else
        log_warn_once("the driver cannot lock host memory (CUDA error %d): memory of this program "
                      "leaves the GPU slowly",
                      (int)result);
}

static int get(struct slot *slot, uint64_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (at == MAP_FAILED)
        return -ENOMEM;
    /* A child of the program must not have it: pages that are locked are copied by fork. */
    madvise(at, bytes, MADV_DONTFORK);
    *slot = (struct slot){.at = at, .bytes = bytes};
    return 0;
}

int slot_take(struct slot *slot, uint64_t bytes, uint64_t context) {
    if (!slot_is_taken(slot) && get(slot, bytes) < 0)
        return -ENOMEM;
    if (slot->context && !context_exists(slot->context))
        slot->context = 0;
    if (!slot->context)
        lock_pages(slot, context);
    return 0;
}

void slot_give_back(struct slot *slot) {
    if (!slot_is_taken(slot))
        return;
    if (slot->context)
        real.cuMemHostUnregister(slot->at);
    munmap(slot->at, slot->bytes);
    *slot = (struct slot){0};
}
