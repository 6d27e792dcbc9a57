#include "books.h"

#include "devices.h"
#include "log.h"
#include "residency.h"
#include "session.h"

struct books books = {LEDGER_INITIALIZER, LEDGER_INITIALIZER, LEDGER_INITIALIZER,
                      LEDGER_INITIALIZER};

CUresult book_reserve(struct device *device, uint64_t bytes, enum ledger_kind kind) {
    if (account_reserve(&device->account, bytes, ledger_is_pinned(kind)) == 0)
        return CUDA_SUCCESS;
    log_info("GPU %d: %llu bytes refused: %llu of %llu are in use", device->ordinal,
             (unsigned long long)bytes, (unsigned long long)atomic_load(&device->account.used),
             (unsigned long long)atomic_load(&device->account.limit));
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* What is allocated behind a closed gate is nowhere yet, and comes with the next fill. */
static void place(struct device *device, struct ledger_entry *entry) {
    if (!residency_can_move(entry->kind) || !device_moves_memory(device) ||
        !gate_is_closed(&device->gate))
        return;
    entry->away = entry->bytes;
    entry->is_untouched = true;
}

CUresult book_settle(struct ledger *ledger, struct device *device, struct ledger_entry entry,
                     CUresult result) {
    entry.account = &device->account;
    entry.device = device->ordinal;
    if (result == CUDA_SUCCESS)
        place(device, &entry);
    atomic_fetch_add(&device->account.away, entry.away);
    if (result != CUDA_SUCCESS || ledger_add(ledger, &entry) < 0) {
        /* Without an entry it could not be uncounted later. Uncounted now, it is at least no leak. */
        atomic_fetch_sub(&device->account.away, entry.away);
        account_release(&device->account, entry.bytes, ledger_is_pinned(entry.kind));
        return result;
    }
    session_memory_changed(device);
    return result;
}

static void tell(const struct ledger_entry *entries) {
    struct device *device = entries ? device_known(entries->device) : NULL;
    if (device)
        session_memory_changed(device);
}

CUresult book_freed(struct ledger *ledger, struct ledger_entry *taken, CUresult result) {
    struct ledger_entry copy = {.device = taken ? taken->device : -1};
    if (result == CUDA_SUCCESS)
        ledger_drop(taken);
    else
        ledger_put_back(ledger, taken);
    tell(&copy);
    return result;
}

struct book_context book_take_context(uint64_t context) {
    return (struct book_context){ledger_take_owner(&books.memory, context),
                                 ledger_take_owner(&books.arrays, context)};
}

void book_context_gone(struct book_context taken) {
    struct ledger_entry *some = taken.memory ? taken.memory : taken.arrays;
    struct ledger_entry copy = {.device = some ? some->device : -1};
    ledger_drop(taken.memory);
    ledger_drop(taken.arrays);
    tell(&copy);
}

void book_context_stays(struct book_context taken) {
    ledger_put_back(&books.memory, taken.memory);
    ledger_put_back(&books.arrays, taken.arrays);
}

void books_forget(void) {
    ledger_forget(&books.memory);
    ledger_forget(&books.arrays);
    ledger_forget(&books.physical);
    ledger_forget(&books.mappings);
}
