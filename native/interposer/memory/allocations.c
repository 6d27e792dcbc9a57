#include "allocations.h"

#include <errno.h>

#include "explicit/pooled.h"
#include "log.h"
#include "moves/residency.h"
#include "process/clock.h"
#include "process/config.h"
#include "process/devices.h"
#include "quantity.h"
#include "session/session.h"

struct allocations allocations = {LEDGER_INITIALIZER, LEDGER_INITIALIZER, LEDGER_INITIALIZER,
                                  LEDGER_INITIALIZER};

/* A daemon that does not answer for so long has other problems. The program goes on without it. */
static const uint64_t answer_patience = CLOCK_MS(5000);

static const char *own_limit_source(void) {
    return config()->is_limit_of_run ? "`nvshare run --memory`"
                                     : "NVSHARE_GPU_MEMORY_LIMIT in its environment";
}

static const char *limit_source(struct device *device, uint64_t limit) {
    switch (account_limit_source(&device->account)) {
    case QUOTA_SOURCE_SET: return "`nvshare limit`";
    case QUOTA_SOURCE_POD: return "the annotation of its pod";
    case QUOTA_SOURCE_CEILING: return "the ceiling of its pod's namespace";
    case QUOTA_SOURCE_ENVIRONMENT:
        return limit == config()->limits.memory_limit
                   ? own_limit_source()
                   : "the environment of another process of its group";
    default: return limit == config()->limits.memory_limit ? own_limit_source() : "its daemon";
    }
}

/* A program that probes how much it can have would fill the terminal: the first time is enough. */
static void say_limited(struct device *device, uint64_t bytes, uint64_t limit) {
    char wanted[QUANTITY_TEXT], all[QUANTITY_TEXT], left[QUANTITY_TEXT];
    quantity_show(bytes, wanted);
    quantity_show(limit, all);
    quantity_show(account_left(&device->account), left);
    log_warn_once("GPU %d: %s refused: this program may use %s, and %s of that are left. The limit "
                  "is set by %s. This warning appears only once",
                  device->ordinal, wanted, all, left, limit_source(device, limit));
    log_info("GPU %d: %llu bytes refused: this would exceed the memory limit of %llu bytes",
             device->ordinal, (unsigned long long)bytes, (unsigned long long)limit);
}

/* Only memory that can move may exceed the GPU's size. */
static void say_why(struct device *device, bool is_limited, uint64_t bytes, enum ledger_kind kind) {
    unsigned long long wanted = bytes, used = atomic_load(&device->account.used);
    if (is_limited)
        say_limited(device, bytes, account_limit(&device->account));
    else if (residency_can_move(kind))
        log_warn_once(
            "GPU %d: %llu bytes refused: together with the %llu bytes in use, this is more "
            "than the GPU has, and the program would be slow. To allow it, set "
            "NVSHARE_OVERSUBSCRIBE=1 for the program, or the setting oversubscribe of the daemon",
            device->ordinal, wanted, used);
    else
        log_info("GPU %d: %llu bytes refused: together with the %llu bytes in use, this is more "
                 "than the GPU has",
                 device->ordinal, wanted, used);
}

static void refuse(struct device *device, uint64_t bytes, enum ledger_kind kind) {
    bool is_limited = device_view(device).is_limited;
    struct refusals *refusals = &device->refusals;
    atomic_fetch_add(is_limited ? &refusals->by_limit : &refusals->by_size, 1);
    session_has_refused(device);
    say_why(device, is_limited, bytes, kind);
}

/* Whether the daemon lets the program have the memory reserved. No answer means yes. */
static enum ask_result ask(struct device *device, enum ledger_kind kind) {
    if (!ask_is_needed(&device->account) || gate_await_decision(&device->gate) < 0 ||
        !atomic_load(&device->is_managed))
        return ASK_YES;
    bool can_move = residency_can_move(kind) && device_moves_memory(device);
    enum ask_result result = ask_daemon(&device->ask, &device->account, can_move, answer_patience);
    if (result != ASK_SILENCE)
        return result;
    if (atomic_load(&device->is_managed))
        log_warn_once("the nvshare daemon does not answer: memory is allocated without it");
    return ASK_YES;
}

static void say_refused(const struct device *device, uint64_t bytes, enum ask_result why) {
    if (why == ASK_TOO_LARGE)
        log_warn_once(
            "GPU %d: %llu bytes refused: all explicit memory of a program has to fit on the "
            "GPU at the same time, and there is no room for this much. Start the program with "
            "NVSHARE_ALLOCATION=managed or NVSHARE_ALLOCATION=auto",
            device->ordinal, (unsigned long long)bytes);
    else
        log_warn_once(
            "GPU %d: %llu bytes refused: more memory would have to move to the host than the "
            "daemon's setting host_memory allows. Raise host_memory, or run fewer programs",
            device->ordinal, (unsigned long long)bytes);
}

static uint64_t coming(enum ledger_kind kind, uint64_t bytes) {
    return residency_can_move(kind) ? bytes : 0;
}

/* Whether there may be room for it as another kind of memory. */
static bool may_mix(const struct device *device, enum ledger_kind kind, enum ask_result why) {
    return why == ASK_TOO_LARGE && kind == LEDGER_EXPLICIT && device_mixes(device);
}

/* Memory that the program's own pools keep is no reason to refuse: they give it back, if it is
 * unused. */
static bool pools_give_way(struct device *device) {
    return atomic_load_explicit(&pools_are_used, memory_order_acquire) &&
           pooled_make_room_patiently(device);
}

/* Memory that the driver's pools keep takes room on the GPU too. Before it makes the program pass
 * its limit, the pools give it back as far as they can. Memory from a pool may be the very memory
 * that it keeps. */
static bool pools_fit(struct device *device, bool is_pooled) {
    if (!atomic_load_explicit(&pools_are_used, memory_order_acquire) ||
        account_limit(&device->account) >= device->total_bytes)
        return true;
    uint64_t kept = pools_keep(device->ordinal);
    if (kept > account_left(&device->account)) {
        pools_trim(device->ordinal);
        kept = pools_keep(device->ordinal);
    }
    account_keep(&device->account, kept);
    return is_pooled || kept <= account_left(&device->account);
}

static int count(struct device *device, uint64_t bytes, enum ledger_kind kind, bool is_pooled) {
    int result;
    do
        result = account_reserve(&device->account, bytes, ledger_is_pinned(kind));
    while (result < 0 && pools_give_way(device));
    if (result == 0 && !pools_fit(device, is_pooled)) {
        account_release(&device->account, bytes, ledger_is_pinned(kind));
        result = -ENOMEM;
    }
    return result;
}

static enum ask_result reserve(struct device *device, uint64_t bytes, enum ledger_kind kind,
                               bool is_pooled) {
    if (count(device, bytes, kind, is_pooled) < 0) {
        refuse(device, bytes, kind);
        return ASK_NO;
    }
    atomic_fetch_add(&device->account.coming, coming(kind, bytes));
    enum ask_result result;
    do
        result = ask(device, kind);
    while (result != ASK_YES && pools_give_way(device));
    if (result == ASK_YES)
        return ASK_YES;
    if (!may_mix(device, kind, result))
        say_refused(device, bytes, result);
    atomic_fetch_sub(&device->account.coming, coming(kind, bytes));
    account_release(&device->account, bytes, ledger_is_pinned(kind));
    session_memory_changed(device); /* the daemon has counted the memory */
    return result;
}

CUresult allocation_reserve(struct device *device, uint64_t bytes, enum ledger_kind kind) {
    device_await_daemon(device);
    return reserve(device, bytes, kind, false) == ASK_YES ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult allocation_reserve_pooled(struct device *device, uint64_t bytes, enum ledger_kind kind) {
    device_await_daemon(device);
    return reserve(device, bytes, kind, true) == ASK_YES ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult allocation_reserve_movable(struct device *device, uint64_t bytes, enum ledger_kind *kind) {
    enum ask_result result = reserve(device, bytes, *kind, false);
    if (may_mix(device, *kind, result)) {
        device_mix(device);
        *kind = LEDGER_CONVERTED;
        result = reserve(device, bytes, *kind, false);
    }
    /* If another thread has mixed meanwhile, the answer is for managed memory, which counts
     * alike. */
    if (*kind == LEDGER_EXPLICIT && atomic_load(&device->is_mixed))
        *kind = LEDGER_CONVERTED;
    return result == ASK_YES ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Allocated memory is nowhere until it is used. Without a daemon calls are not looked at, and this
 * need not be known. */
static void place(struct device *device, struct ledger_entry *entry) {
    if (!residency_is_managed(entry->kind) || !device_moves_memory(device))
        return;
    entry->used_ns = clock_now();
    entry->is_untouched = atomic_load(&device->is_managed) || gate_is_closed(&device->gate);
    if (!entry->is_untouched)
        return;
    entry->away = entry->bytes;
    atomic_fetch_add(&device->account.untouched, entry->bytes);
}

static void unplace(struct device *device, const struct ledger_entry *entry) {
    atomic_fetch_sub(&device->account.away, entry->away);
    if (entry->is_untouched)
        atomic_fetch_sub(&device->account.untouched, entry->bytes);
}

CUresult allocation_record(struct ledger *ledger, struct device *device, struct ledger_entry entry,
                           CUresult result) {
    entry.account = &device->account;
    entry.device = device->ordinal;
    if (result == CUDA_SUCCESS)
        place(device, &entry);
    atomic_fetch_add(&device->account.away, entry.away);
    atomic_fetch_sub(&device->account.coming, coming(entry.kind, entry.bytes));
    if (result != CUDA_SUCCESS || ledger_add(ledger, &entry) < 0) {
        /* Without an entry it could not be uncounted later. Uncounted now, it is at least no
         * leak. */
        unplace(device, &entry);
        account_release(&device->account, entry.bytes, ledger_is_pinned(entry.kind));
        return result;
    }
    if (entry.is_untouched)
        gate_set_curious(&device->gate, true);
    session_memory_changed(device);
    return result;
}

static void tell(const struct ledger_entry *entries) {
    struct device *device = entries ? device_known(entries->device) : NULL;
    if (!device)
        return;
    session_memory_changed(device);
    if (mover_is_waiting(&device->mover))
        mover_look_again(&device->mover);
}

CUresult allocation_freed(struct ledger *ledger, struct ledger_entry *taken, CUresult result) {
    struct ledger_entry copy = {.device = taken ? taken->device : -1};
    if (result == CUDA_SUCCESS)
        ledger_drop(taken);
    else
        ledger_put_back(ledger, taken);
    tell(&copy);
    return result;
}

struct allocation_context allocation_take_context(uint64_t context) {
    return (struct allocation_context){ledger_take_owner(&allocations.memory, context),
                                       ledger_take_owner(&allocations.arrays, context)};
}

void allocation_context_gone(struct allocation_context taken) {
    struct ledger_entry *some = taken.memory ? taken.memory : taken.arrays;
    struct ledger_entry copy = {.device = some ? some->device : -1};
    for (const struct ledger_entry *one = taken.memory; one; one = one->next_of_owner)
        if (ledger_is_explicit(one->kind))
            explicit_is_gone(device_known(one->device), one);
    ledger_drop(taken.memory);
    ledger_drop(taken.arrays);
    tell(&copy);
}

void allocation_context_stays(struct allocation_context taken) {
    ledger_put_back(&allocations.memory, taken.memory);
    ledger_put_back(&allocations.arrays, taken.arrays);
}

void books_forget(void) {
    ledger_forget(&allocations.memory);
    ledger_forget(&allocations.arrays);
    ledger_forget(&allocations.physical);
    ledger_forget(&allocations.mappings);
}
