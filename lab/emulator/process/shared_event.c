#include "shared_event.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../native/common/old_calls.h"

enum { CELLS = 4096, FILE_BYTES = CELLS * sizeof(struct event_cell) };

/* The cells of one process: our own, or those of another process that we have mapped. */
struct event_file {
    struct process_identity maker;
    int file; /* our own descriptor for ours, theirs for others' */
    struct event_cell *cells;
    struct event_file *next;
};

struct process_identity own_identity(void) {
    return (struct process_identity){getpid(), driver->slot, driver_slot()->generation};
}

static bool is_same(struct process_identity one, struct process_identity other) {
    return one.pid == other.pid && one.slot == other.slot && one.generation == other.generation;
}

static bool is_alive(struct process_identity process) {
    if (process.slot >= MAX_PROCESSES)
        return false;
    node_lock(driver->node);
    node_reap(driver->node);
    const struct slot *slot = &driver->node->slots[process.slot];
    bool alive = slot->in_use && slot->pid == process.pid && slot->generation == process.generation;
    node_unlock(driver->node);
    return alive;
}

static struct event_file *keep(struct process_identity maker, int file, int mapped_from) {
    struct event_file *made = calloc(1, sizeof *made);
    void *cells =
        mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, mapped_from, 0);
    if (!made || cells == MAP_FAILED) {
        free(made);
        return NULL;
    }
    *made = (struct event_file){
        .maker = maker, .file = file, .cells = cells, .next = driver->event_files};
    driver->event_files = made;
    return made;
}

static struct event_file *find_file(struct process_identity maker) {
    struct event_file *found = driver->event_files;
    while (found && !is_same(found->maker, maker))
        found = found->next;
    return found;
}

static struct event_file *own_file(void) {
    struct event_file *own = find_file(own_identity());
    if (own)
        return own;
    int file = old_memfd_create("nvshare-events", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, FILE_BYTES) == 0)
        own = keep(own_identity(), file, file);
    if (!own && file >= 0)
        close(file);
    return own;
}

static struct event_file *others_file(const struct event_address *address) {
    struct event_file *known = find_file(address->maker);
    if (known || !is_alive(address->maker))
        return known;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", address->maker.pid, address->file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return NULL;
    known = keep(address->maker, address->file, file);
    close(file);
    return known;
}

bool shared_event_create(struct shared_event *out) {
    struct event_file *own = own_file();
    for (uint32_t i = 0; own && i < CELLS; i++) {
        struct event_cell *cell = &own->cells[i];
        if (cell->id)
            continue;
        *cell = (struct event_cell){.id = driver_next_id()};
        *out = (struct shared_event){cell, cell->id};
        return true;
    }
    return false;
}

void shared_event_release(const struct shared_event *event) {
    if (event->cell->id == event->id)
        event->cell->id = 0;
}

struct event_address shared_event_address(const struct shared_event *event) {
    const struct event_file *own = own_file();
    return (struct event_address){.maker = own->maker,
                                  .file = own->file,
                                  .cell = (uint32_t)(event->cell - own->cells),
                                  .id = event->id};
}

bool shared_event_open(const struct event_address *address, struct shared_event *out) {
    struct event_file *file = address->cell < CELLS ? others_file(address) : NULL;
    if (!file || file->cells[address->cell].id != address->id)
        return false;
    *out = (struct shared_event){&file->cells[address->cell], address->id};
    return true;
}

uint64_t shared_event_record(const struct shared_event *event) {
    event->cell->recorder = own_identity();
    return __atomic_add_fetch(&event->cell->recorded, 1, __ATOMIC_ACQ_REL);
}

void shared_event_finish(const struct shared_event *event, uint64_t number) {
    struct event_cell *cell = event->cell;
    uint64_t done = __atomic_load_n(&cell->done, __ATOMIC_ACQUIRE);
    while (cell->id == event->id && done < number &&
           !__atomic_compare_exchange_n(&cell->done, &done, number, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
    }
}

bool shared_event_is_ours(const struct shared_event *event) {
    return is_same(event->cell->recorder, own_identity());
}

bool shared_event_is_done(const struct shared_event *event) {
    const struct event_cell *cell = event->cell;
    return cell->id != event->id ||
           __atomic_load_n(&cell->done, __ATOMIC_ACQUIRE) >=
               __atomic_load_n(&cell->recorded, __ATOMIC_ACQUIRE) ||
           !is_alive(cell->recorder);
}
