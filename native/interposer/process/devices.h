/* The GPUs that this process uses, each with its gate and its account. */
#ifndef NVSHARE_DEVICES_H
#define NVSHARE_DEVICES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "explicit/explicit.h"
#include "gate/gate.h"
#include "lookup/driver.h"
#include "memory/ask.h"
#include "memory/ledger.h"
#include "moves/mover.h"
#include "shares/meter.h"
#include "shares/share.h"
#include "shares/usage.h"

enum { DEVICES_MAX = 64 };

/* How often the program was refused memory without a request to the daemon. */
struct refusals {
    _Atomic uint64_t by_limit, by_size;
    _Atomic bool are_new; /* since the daemon was last told */
};

struct device {
    CUdevice ordinal;
    uint8_t uuid[16];
    uint64_t total_bytes;
    bool can_manage;     /* managed memory works as on every desktop and server GPU */
    bool can_map;        /* memory can be moved explicitly */
    bool has_other_gpus; /* the process uses other GPUs as well */
    bool is_decided;     /* how memory is allocated; before that, none is allocated */
    bool is_native;      /* the allocation kind is native */
    /* The allocation kind is explicit. Managed, once the program uses another GPU as well. */
    _Atomic bool is_explicit;
    bool may_mix; /* managed memory may be allocated where explicit memory has no room at once */
    _Atomic bool is_mixed; /* and it was: from then on all new memory is managed */
    struct gate gate;
    struct account account;
    struct explicit explicit;
    struct mover mover;
    struct ask ask;
    struct ask context_ask;
    _Atomic bool has_context;         /* false: it only wants one, for which there is no room yet */
    _Atomic bool context_has_changed; /* since the daemon was last told */
    uint64_t memory_limit;            /* as last told; 0: none */
    bool is_limit_told;               /* by the daemon */
    int page;                         /* of the group; -1: none */
    bool may_oversubscribe;           /* allocate more than it has */
    struct usage usage;
    struct meter meter;
    struct share share;
    _Atomic uint64_t inflight_ns;    /* most work in flight */
    _Atomic unsigned late_ends;      /* turns that ended late, with more than that in flight */
    _Atomic unsigned functions;      /* of the program's, that are running in stream order */
    _Atomic bool daemon_is_known;    /* whether there is a daemon, and what it allows */
    _Atomic bool is_low;             /* the program has a low priority */
    _Atomic bool is_managed;         /* a daemon manages it */
    _Atomic bool memory_has_changed; /* since the daemon was last told */
    struct refusals refusals;
};

/* The device of the calling thread's current context. NULL when there is no context, or when
 * nvshare is switched off: then the call is the driver's alone. */
struct device *device_here(void);

/* A device by its number in this process, made at first use. NULL as above, or if there is none. */
struct device *device_get(CUdevice ordinal);

/* The same, for a program that has no context there yet. */
struct device *device_get_for_context(CUdevice ordinal);

/* A device that is in use already, or NULL. */
struct device *device_known(CUdevice ordinal);

/* The device of a gate, or NULL if it has none. */
struct device *device_of_gate(const struct gate *gate);

/* Whether a context may be made on a device: CUDA_ERROR_SYSTEM_NOT_READY for a program that must
 * not run unmanaged and finds no daemon, and for one whose limits make no sense. */
CUresult device_may_be_used(CUdevice ordinal);

/* Waits until it is known whether there is a daemon: memory allocated before could pass a limit
 * that only the daemon knows. Costs nothing once it is known. */
void device_await_daemon(struct device *device);

/* How memory is allocated on it (enum allocation_kind of frames.h): decided once, by the session,
 * before any allocation or work. device_decide_alone goes by the environment. device_kind returns
 * the decision. */
void device_decide(struct device *device, uint32_t kind, bool may_mix);
void device_decide_alone(struct device *device);
uint32_t device_kind(const struct device *device);

/* Whether an allocation that has no room as explicit memory may be managed memory. Then it, and all
 * that follow, are. */
bool device_mixes(const struct device *device);
void device_mix(struct device *device);

/* Without a daemon that says how much work may be in flight, as much as with other programs. */
void device_reset_inflight(struct device *device);

/* The most that the program may allocate on it: its limit, or all there is, or more than that. */
void device_set_limit(struct device *device, uint64_t bytes);
void device_set_oversubscription(struct device *device, bool is_allowed);

/* Whether the next allocation is explicit memory. */
bool device_allocates_explicitly(const struct device *device);

/* Whether memory allocated on it can be moved. */
bool device_moves_memory(const struct device *device);

/* Whether memory that is away has to be brought back before use: an access to it would be an
 * illegal address, where managed memory comes by itself. */
bool device_is_explicit(const struct device *device);

/* The limit belongs to a group now, and is in its page, whose descriptor is kept. */
void device_join_group(struct device *device, int page, uint32_t slot, uint64_t key);

/* The descriptor of that page, for a later daemon; -1: there is none. The program may have closed
 * it, and have reused its number. */
int device_page(const struct device *device);

/* The size of the device as the program sees it, and how much of it is left. */
struct device_view {
    bool is_limited; /* it is smaller than the real device */
    uint64_t total, free;
};
struct device_view device_view(struct device *device);

/* The program ends: stops all moves. */
void devices_stop(void);

/* In a child after fork: it uses no GPU yet. */
void devices_forget(void);

#endif
