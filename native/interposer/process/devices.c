#include "devices.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "contexts.h"
#include "descriptor.h"
#include "explicit/carry.h"
#include "explicit/locking.h"
#include "explicit/pooled.h"
#include "frames.h"
#include "gate/inside.h"
#include "log.h"
#include "session/session.h"

/* The window of a share until the daemon sets it. */
static const uint64_t default_window_ns = 100 * 1000 * 1000;

/* The bound on work in flight until the daemon sets it. */
static const uint64_t default_inflight_ns = 50 * 1000 * 1000;

static struct {
    pthread_mutex_t lock;
    struct device *_Atomic table[DEVICES_MAX];
    bool has_several;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool attribute(CUdevice ordinal, CUdevice_attribute which) {
    int value = 0;
    return real.cuDeviceGetAttribute(&value, which, ordinal) == CUDA_SUCCESS && value;
}

static void set_own_share(struct device *device) {
    uint32_t percent = config()->limits.compute_percent;
    struct share_order order = {.share_ppm = percent < 100 ? percent * 10000 : 0,
                                .window_ns = default_window_ns};
    share_change(&device->share, &order);
    usage_measure(&device->usage, order.share_ppm != 0);
}

static void say_what_cannot_be(const struct device *device) {
    if (config()->allocation == ALLOCATION_EXPLICIT && !device->can_map && !device->has_other_gpus)
        log_warn_once("GPU %d does not support explicit memory: managed memory is used instead",
                      device->ordinal);
    if (!device_moves_memory(device) && !device->is_native)
        log_info("GPU %d does not support moving managed memory: all memory is native",
                 device->ordinal);
}

/* On the session's thread. No thread is at the gate yet (device_get), so calls can be marked from
 * now on. */
void device_decide(struct device *device, uint32_t kind, bool may_mix) {
    device->is_decided = true;
    device->is_native = kind == ALLOCATION_KIND_NATIVE;
    device->is_explicit = kind == ALLOCATION_KIND_EXPLICIT && device->can_map;
    device->may_mix = may_mix && device->can_manage;
    if (device->is_explicit)
        inside_enable();
    device->mover.carry = device->is_explicit ? carry : NULL;
    device->mover.chore = device->is_explicit ? locking_prepare : NULL;
    device_set_limit(device, device->memory_limit);
    say_what_cannot_be(device);
}

static uint32_t own_kind(const struct device *device) {
    enum allocation wish = config()->allocation;
    if (wish == ALLOCATION_EXPLICIT && device->can_map)
        return ALLOCATION_KIND_EXPLICIT;
    bool is_managed = wish != ALLOCATION_NATIVE && device->can_manage;
    return is_managed ? ALLOCATION_KIND_MANAGED : ALLOCATION_KIND_NATIVE;
}

void device_decide_alone(struct device *device) {
    if (!device->is_decided)
        device_decide(device, own_kind(device), false);
}

uint32_t device_kind(const struct device *device) {
    if (!device->is_decided)
        return own_kind(device);
    if (device->is_explicit)
        return atomic_load(&device->is_mixed) ? ALLOCATION_KIND_MIXED : ALLOCATION_KIND_EXPLICIT;
    return device_moves_memory(device) ? ALLOCATION_KIND_MANAGED : ALLOCATION_KIND_NATIVE;
}

bool device_mixes(const struct device *device) {
    return device->may_mix;
}

/* The session tells the daemon before the next request. */
void device_mix(struct device *device) {
    if (!atomic_exchange(&device->is_mixed, true))
        log_info("GPU %d: new allocations are managed memory from now on: there is no room for "
                 "all memory of the program at the same time",
                 device->ordinal);
}

/* Frees memory that pools keep, since it takes room that others need. Memory that the driver's
 * pools keep is not counted as used. */
static uint64_t tidy_up(struct device *device) {
    bool is_pending = false;
    if (!atomic_load_explicit(&pools_are_used, memory_order_acquire))
        return 0;
    pools_trim(device->ordinal);
    return pooled_make_room(device, &is_pending);
}

void device_reset_inflight(struct device *device) {
    atomic_store(&device->inflight_ns, default_inflight_ns);
}

static struct device *make(CUdevice ordinal) {
    CUuuid uuid;
    size_t total;
    if (real.cuDeviceGetUuid(&uuid, ordinal) != CUDA_SUCCESS ||
        real.cuDeviceTotalMem_v2(&total, ordinal) != CUDA_SUCCESS)
        return NULL;
    struct device *device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    device->ordinal = ordinal;
    device->page = -1;
    memcpy(device->uuid, uuid.bytes, sizeof device->uuid);
    device->total_bytes = total;
    device->can_manage = attribute(ordinal, CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) &&
                         attribute(ordinal, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
    device->has_other_gpus = state.has_several;
    device->can_map = !state.has_several &&
                      attribute(ordinal, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) &&
                      inside_is_possible();
    device_reset_inflight(device);
    pthread_mutex_init(&device->account.lock, NULL);
    explicit_init(&device->explicit, &device->account);
    device_set_limit(device, config()->limits.memory_limit);
    usage_init(&device->usage);
    meter_init(&device->meter);
    share_init(&device->share, session_knock, device);
    set_own_share(device);
    gate_init(&device->gate, session_knock, device);
    mover_init(&device->mover, device);
    device->mover.tidy_up = tidy_up;
    ask_init(&device->ask, session_knock, device);
    ask_init(&device->context_ask, session_knock, device);
    return device;
}

struct device *device_known(CUdevice ordinal) {
    if (ordinal < 0 || ordinal >= DEVICES_MAX)
        return NULL;
    return atomic_load_explicit(&state.table[ordinal], memory_order_acquire);
}

/* With several GPUs it cannot be told which of them reaches which memory. */
static void keep_explicit_memory(CUdevice other) {
    for (int i = 0; i < DEVICES_MAX; i++) {
        struct device *device = device_known(i);
        if (!device)
            continue;
        state.has_several = true;
        if (device->is_explicit)
            explicit_stay(device, other);
    }
}

static struct device *get(CUdevice ordinal, bool has_context) {
    struct device *device = device_known(ordinal);
    if (device || ordinal < 0 || ordinal >= DEVICES_MAX || config()->disable)
        return device;
    pthread_mutex_lock(&state.lock);
    device = device_known(ordinal);
    if (!device)
        keep_explicit_memory(ordinal);
    if (!device && (device = make(ordinal))) {
        atomic_store(&device->has_context, has_context);
        session_add(device);
        /* Whether calls are marked has to be known before any thread comes to a gate. */
        if (device->can_map)
            gate_await_decision(&device->gate);
        atomic_store_explicit(&state.table[ordinal], device, memory_order_release);
    }
    pthread_mutex_unlock(&state.lock);
    return device;
}

struct device *device_get(CUdevice ordinal) {
    return get(ordinal, true);
}

struct device *device_get_for_context(CUdevice ordinal) {
    return get(ordinal, false);
}

struct device *device_here(void) {
    driver_need();
    const struct context *context = context_here();
    return context ? context->device : NULL;
}

struct device *device_of_gate(const struct gate *gate) {
    return gate->knock_argument;
}

CUresult device_may_be_used(CUdevice ordinal) {
    driver_need();
    if (config()->limits.is_wrong && !config()->disable)
        return CUDA_ERROR_SYSTEM_NOT_READY;
    struct device *device = config()->require ? device_get_for_context(ordinal) : NULL;
    return device && gate_await_decision(&device->gate) < 0 ? CUDA_ERROR_SYSTEM_NOT_READY
                                                            : CUDA_SUCCESS;
}

void device_await_daemon(struct device *device) {
    if (atomic_load_explicit(&device->daemon_is_known, memory_order_acquire))
        return;
    gate_await_decision(&device->gate);
    atomic_store_explicit(&device->daemon_is_known, true, memory_order_release);
}

/* A limit belongs to the whole group, and is in the group's page. The environment's limit holds
 * only while there is no such page. The daemon's limit holds besides the page: other processes can
 * write to that. */
static void apply_limit(struct device *device) {
    bool is_allowed =
        (config()->oversubscribe || device->may_oversubscribe) && !device->is_explicit;
    uint64_t most = is_allowed ? UINT64_MAX : device->total_bytes;
    bool has_page = device->account.own_slot.page;
    uint64_t limit = has_page ? 0 : device->memory_limit;
    atomic_store(&device->account.told,
                 has_page && device->is_limit_told ? device->memory_limit : 0);
    atomic_store(&device->account.limit, limit && limit < most ? limit : most);
}

void device_set_limit(struct device *device, uint64_t bytes) {
    device->memory_limit = bytes;
    apply_limit(device);
}

void device_set_oversubscription(struct device *device, bool is_allowed) {
    device->may_oversubscribe = is_allowed;
    apply_limit(device);
}

void device_join_group(struct device *device, int page, uint32_t slot, uint64_t key) {
    struct own_slot own;
    if (device->account.own_slot.key == key) {
        descriptor_close(page); /* after a restart of the daemon: this process has it already */
        return;
    }
    int result = own_slot_check(page);
    if (result == 0)
        result = own_slot_take(&own, page, slot, key);
    if (result < 0) {
        descriptor_close(page);
        log_warn_once("GPU %d: the quota page of this program's group cannot be used (%s): each "
                      "process applies the memory limit to its own memory only",
                      device->ordinal, strerror(-result));
        return;
    }
    share_join(&device->share, &own.page->paid_until);
    account_join(&device->account, &own);
    descriptor_close(device->page);
    device->page = page;
    apply_limit(device);
}

int device_page(const struct device *device) {
    return descriptor_is_kept(device->page) ? device->page : -1;
}

bool device_moves_memory(const struct device *device) {
    return device->is_explicit || (device->can_manage && !device->is_native);
}

bool device_allocates_explicitly(const struct device *device) {
    return device->is_explicit && !atomic_load_explicit(&device->is_mixed, memory_order_relaxed);
}

bool device_is_explicit(const struct device *device) {
    return atomic_load_explicit(&device->is_explicit, memory_order_acquire);
}

struct device_view device_view(struct device *device) {
    uint64_t limit = account_limit(&device->account), left = account_left(&device->account);
    uint64_t used = atomic_load(&device->account.used), size = device->total_bytes;
    struct device_view view = {.is_limited = limit < size, .total = limit < size ? limit : size};
    uint64_t own = used < view.total ? view.total - used : 0;
    view.free = left < own ? left : own;
    if (atomic_load_explicit(&pools_are_used, memory_order_acquire)) {
        uint64_t kept = pools_keep(device->ordinal);
        view.free -= kept < view.free ? kept : view.free;
    }
    return view;
}

void devices_stop(void) {
    for (int i = 0; i < DEVICES_MAX; i++)
        if (device_known(i))
            mover_stop(&device_known(i)->mover);
}

void devices_forget(void) {
    pthread_mutex_init(&state.lock, NULL);
    state.has_several = false;
    for (int i = 0; i < DEVICES_MAX; i++)
        atomic_store(&state.table[i], NULL);
}
