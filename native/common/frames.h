/* Every frame between libnvshare.so and the daemon, as it lies on the wire.
 *
 * Generated from protocol/frames.toml by `python -m protocol.generate`: do not edit.
 * The rules of the protocol are in that file; reading and writing is in frame.h. */
#ifndef NVSHARE_FRAMES_H
#define NVSHARE_FRAMES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "protocol/frames.toml");

#define FRAME_MAGIC          UINT32_C(0x4853564e)
#define FRAME_VERSION        1
#define FRAME_OLDEST_VERSION 1
#define FRAME_MAX_PAYLOAD    4096
#define FRAME_UNASKED_BYTES  33554432
#define FRAME_SOCKET_NAME    "nvshare.sock"
#define FRAME_MACHINE_FOLDER "/run/nvshare"

enum frame_type {
    FRAME_HELLO = 1,
    FRAME_WANT = 2,
    FRAME_RELEASED = 3,
    FRAME_MEMORY = 4,
    FRAME_MOVED = 5,
    FRAME_USAGE = 6,
    FRAME_ALLOCATES = 7,
    FRAME_PINNED = 8,
    FRAME_HOST = 9,
    FRAME_CANNOT_DRAIN = 10,
    FRAME_CAN_DRAIN = 11,
    FRAME_CONTEXT = 12,
    FRAME_HELD = 13,
    FRAME_PING = 14,
    FRAME_REFUSED = 15,
    FRAME_WELCOME = 129,
    FRAME_GRANT = 130,
    FRAME_REVOKE = 131,
    FRAME_KEEP = 132,
    FRAME_HANDOVER = 133,
    FRAME_STANDBY = 134,
    FRAME_CANCEL_HANDOVER = 135,
    FRAME_EVICT = 136,
    FRAME_FILL = 150,
    FRAME_TRIM = 142,
    FRAME_ROOM = 143,
    FRAME_LIMITS = 137,
    FRAME_SETTINGS = 138,
    FRAME_PONG = 151,
    FRAME_REJECT = 139,
    FRAME_ANSWER = 140,
    FRAME_NOTICE = 144,
    FRAME_QUOTA = 141,
    FRAME_ALLOCATION = 145,
    FRAME_EXTENT = 146,
    FRAME_HOST_FULL = 147,
    FRAME_HOLD = 148,
    FRAME_STEP = 149,
};

/* How the memory of a program is allocated. */
enum allocation_kind {
    ALLOCATION_KIND_MANAGED = 1,  /* managed memory, which can be moved out and in */
    ALLOCATION_KIND_NATIVE = 2,   /* memory as the program asked for it, which stays on the GPU */
    ALLOCATION_KIND_EXPLICIT = 3, /* physical memory, which is copied out and in */
    ALLOCATION_KIND_MIXED = 4,    /* the same, and managed memory where that had no room at once */
};

/* Why a client gives its turn up. */
enum release_reason {
    RELEASE_REASON_IDLE = 1,    /* it had nothing to do */
    RELEASE_REASON_TOLD = 2,    /* it was told to, now */
    RELEASE_REASON_USED_UP = 3, /* its share is used up for now */
};

/* What shows that work in flight waits for the program itself. */
enum undrained_reason {
    UNDRAINED_REASON_FUNCTION = 1, /* a host function has not returned */
    UNDRAINED_REASON_STREAM = 2,   /* a call waits that would not have to wait for that work */
    UNDRAINED_REASON_TIME = 3,     /* a call waits, and the work has not ended for very long */
};

/* When a turn has to be given up. */
enum urgency {
    URGENCY_WHEN_IDLE = 1, /* as soon as the client has had no work for a while */
    URGENCY_NOW = 2,       /* at once: finish what is in flight */
};

/* Why a client is turned away. */
enum reject_code {
    REJECT_CODE_VERSION = 1,    /* the frames have another version */
    REJECT_CODE_DEVICE = 2,     /* the daemon has no GPU of this UUID */
    REJECT_CODE_PERMISSION = 3, /* the user may not use this daemon */
    REJECT_CODE_FULL = 4,       /* there are too many clients */
    REJECT_CODE_PROTOCOL = 5,   /* invalid frames */
};

/* Whether memory may be allocated. */
enum verdict {
    VERDICT_YES = 1,       /* it may */
    VERDICT_HOST_FULL = 2, /* no: the host has no room for what would have to leave the GPU */
    VERDICT_TOO_LARGE = 3, /* no: it has to be on the GPU as a whole, and cannot */
    VERDICT_NOT_NOW = 4,   /* no context now: others could not come back beside it */
};

/* What a client is doing as it registers. */
enum hello_flags {
    HELLO_RESUMING = 1,         /* its gate is open, from an earlier daemon or without any */
    HELLO_WANTS = 2,            /* it waits for a turn, as if WANT followed */
    HELLO_UNDECIDED = 4,        /* it has allocated nothing, and does so as ALLOCATION says */
    HELLO_CAN_MANAGE = 8,       /* managed memory can be moved on this GPU */
    HELLO_CAN_MAP = 16,         /* memory can be mapped and unmapped, and all calls be seen */
    HELLO_SEVERAL = 32,         /* the process uses other GPUs as well */
    HELLO_ASKS_MANAGED = 64,    /* its environment says NVSHARE_ALLOCATION=managed */
    HELLO_ASKS_EXPLICIT = 128,  /* the same with explicit */
    HELLO_ASKS_NATIVE = 256,    /* the same with native */
    HELLO_ASKS_AUTO = 512,      /* the same with auto */
    HELLO_MAY_BE_LARGER = 1024, /* its environment says NVSHARE_OVERSUBSCRIBE=1 */
    HELLO_NO_CONTEXT = 2048,    /* it has no context on the GPU: the driver had no room for one */
    HELLO_CAN_HOLD = 4096,      /* it understands HOLD and STEP */
    HELLO_PATIENT = 8192,       /* its environment says NVSHARE_WAIT_NOTICE=0 */
    HELLO_UNGRANTED = 16384,    /* RESUMING, although no daemon has given it a turn */
};

/* What a client may do that was told how to allocate. */
enum allocation_flags {
    ALLOCATION_MIX = 1, /* allocate managed memory where explicit memory has no room at once */
};

/* How memory leaves when a turn ends. */
enum revoke_flags {
    REVOKE_DISPLACE = 1, /* the next client displaces it, oldest arrival first; nothing to move */
};

/* How limits are meant. All of them are in limits.toml. */
enum limit_flags {
    LIMIT_BURST = 1, /* it may use more compute while no other program wants the GPU */
    LIMIT_HIGH = 2,  /* it goes before others */
    LIMIT_LOW = 4,   /* it takes what others leave */
};

/* What clients may do. */
enum setting_flags {
    SETTING_OVERSUBSCRIBE = 1, /* one program may allocate more than the GPU has */
    SETTING_PROVIDES_HOST = 2, /* take host memory for what moves explicitly from EXTENT only */
    SETTING_ANSWERS = 4,       /* ask whether the daemon listens (PING) */
};

struct frame_header {
    uint32_t magic;
    uint16_t version;
    uint16_t type;
    uint32_t length; /* of the payload */
    uint32_t reserved;
} __attribute__((packed));
static_assert(sizeof(struct frame_header) == 16, "protocol/frames.toml");

/* From client to daemon.
 * The first frame of a connection: this process uses this GPU. */
struct frame_hello {
    uint8_t device_uuid[16];  /* of the GPU, as cuDeviceGetUuid gives it */
    uint32_t allocation_kind; /* enum allocation_kind: how its memory is allocated */
    uint32_t flags;           /* enum hello_flags: what the client is doing */
    uint64_t allocated;       /* bytes allocated now, pinned ones included */
    uint64_t pinned;          /* bytes of those that cannot leave the GPU */
    uint64_t swapped_out;     /* bytes of those that the client has moved to the host */
    uint64_t memory_limit;    /* bytes, from its environment; 0: none */
    uint32_t compute_percent; /* 1 to 100, from its environment; 0: none */
    uint32_t limit_flags;     /* enum limit_flags: from its environment as well */
    uint64_t turn;            /* that it holds, or held last, from an earlier daemon; 0: none */
    uint8_t group[16];        /* token that `nvshare run` gave the process tree; zeros: none */
    char library_version[32]; /* of libnvshare.so */
    uint64_t slot_key;        /* of its slot in its group's page, from an earlier daemon; 0: none */
    uint64_t untouched;       /* as in MEMORY */
    uint64_t kept;            /* as in MEMORY */
} __attribute__((packed));
static_assert(sizeof(struct frame_hello) == 144, "protocol/frames.toml");

/* From client to daemon.
 * The client has work and no turn. Sent once, until it is granted one. */
struct frame_want {
    uint64_t turn; /* the last turn that it held; 0: none */
} __attribute__((packed));
static_assert(sizeof(struct frame_want) == 8, "protocol/frames.toml");

/* From client to daemon.
 * The client's gate is closed and its work has drained. */
struct frame_released {
    uint64_t turn;        /* the turn that it gives back */
    uint32_t reason;      /* enum release_reason: why */
    uint32_t wants;       /* 1: it has more work, as if WANT followed; 0: not now */
    uint64_t handed_turn; /* the turn that it has handed over itself; 0: none */
    uint64_t allocated;   /* as in MEMORY */
    uint64_t pinned;      /* as in MEMORY */
    uint64_t swapped_out; /* as in MEMORY; what is still on its way counts */
    uint64_t moved_bytes; /* moved to the host since it was asked; 0: nothing measured */
    uint64_t moved_ns;    /* time that this took */
    uint64_t left;        /* as in MOVED */
    uint64_t untouched;   /* as in MEMORY */
    uint64_t kept;        /* as in MEMORY */
} __attribute__((packed));
static_assert(sizeof(struct frame_released) == 88, "protocol/frames.toml");

/* From client to daemon.
 * What the client has allocated has changed, or with a ticket: is to change. */
struct frame_memory {
    uint64_t allocated;   /* bytes allocated, pinned ones included */
    uint64_t pinned;      /* bytes of those that cannot leave the GPU */
    uint64_t swapped_out; /* bytes of those that the client has moved to the host */
    uint64_t ticket;      /* a number that ANSWER repeats; 0: no thread waits for one */
    uint64_t untouched;   /* bytes of swapped_out that were never used: they are nowhere */
    uint64_t kept;        /* bytes that have pages on the host, be they out or back */
} __attribute__((packed));
static_assert(sizeof(struct frame_memory) == 48, "protocol/frames.toml");

/* From client to daemon.
 * The client has moved memory in bulk, with progress on the way. Also answers EVICT and TRIM. */
struct frame_moved {
    uint64_t turn;        /* that it holds, or held last; 0: none */
    uint64_t allocated;   /* as in MEMORY */
    uint64_t pinned;      /* as in MEMORY */
    uint64_t swapped_out; /* as in MEMORY */
    uint64_t out_bytes;   /* from the GPU to the host */
    uint64_t in_bytes;    /* from the host to the GPU */
    uint64_t ns;          /* time that this took */
    uint64_t left;        /* bytes on their way to the host that have not left yet; 0: all have */
    uint64_t untouched;   /* as in MEMORY */
    uint64_t kept;        /* as in MEMORY */
} __attribute__((packed));
static_assert(sizeof(struct frame_moved) == 80, "protocol/frames.toml");

/* From client to daemon.
 * Counters since the process began to use the GPU. They only grow. */
struct frame_usage {
    uint64_t busy_ns;      /* time in which it is known to have had work on the GPU */
    uint64_t launches;     /* calls that gave the GPU work, without each thread's last few */
    uint64_t throttled_ns; /* time that it was held back by its share of compute */
    uint64_t gpu_ns;       /* GPU time that it has used while it had a share, as measured */
} __attribute__((packed));
static_assert(sizeof(struct frame_usage) == 32, "protocol/frames.toml");

/* From client to daemon.
 * From now on the client allocates in another way than it said in HELLO, or was told. */
struct frame_allocates {
    uint32_t allocation_kind; /* enum allocation_kind: how its memory is allocated */
    uint32_t reserved;        /* sent as 0 */
} __attribute__((packed));
static_assert(sizeof(struct frame_allocates) == 8, "protocol/frames.toml");

/* From client to daemon.
 * What cannot leave the GPU, by reason. Follows MEMORY, if it has changed. */
struct frame_pinned {
    uint64_t as_asked;     /* bytes as the program asked for them: memory is not to move */
    uint64_t handles;      /* bytes by cuMemCreate that are the driver's own */
    uint64_t rdma;         /* the same, and asked for as memory for RDMA */
    uint64_t exported;     /* bytes by cuMemCreate that others have */
    uint64_t several_gpus; /* bytes that other GPUs of the program may reach */
    uint64_t pools;        /* bytes from pools that are the driver's own */
    uint64_t arrays;       /* bytes of arrays */
    uint64_t graphs;       /* bytes that the driver holds for graphs */
} __attribute__((packed));
static_assert(sizeof(struct frame_pinned) == 64, "protocol/frames.toml");

/* From client to daemon.
 * What the client holds of the host memory that the daemon has made, and what it may need. */
struct frame_host {
    uint64_t received; /* bytes of all EXTENTs that have come on this connection */
    uint64_t held;     /* bytes that it holds now, from whatever daemon */
    uint64_t most;     /* bytes that it could need if all that moves explicitly were out */
    uint64_t lacking;  /* bytes beyond those held that a move waits for; 0: none does */
} __attribute__((packed));
static_assert(sizeof(struct frame_host) == 32, "protocol/frames.toml");

/* From client to daemon.
 * What is in flight waits for calls at the gate, which is open again: REVOKE or HOLD is void. */
struct frame_cannot_drain {
    uint64_t turn;   /* that it holds, and goes on with */
    uint32_t reason; /* enum undrained_reason: how the client knows */
    uint32_t number; /* of the HOLD or STEP before; 0: it was REVOKE */
} __attribute__((packed));
static_assert(sizeof(struct frame_cannot_drain) == 16, "protocol/frames.toml");

/* From client to daemon.
 * What could not drain has come to its end: it is worth while to send REVOKE again. */
struct frame_can_drain {
    uint64_t turn; /* of CANNOT_DRAIN */
} __attribute__((packed));
static_assert(sizeof(struct frame_can_drain) == 8, "protocol/frames.toml");

/* From client to daemon.
 * The driver has no room for one more context: ANSWER comes when there is. */
struct frame_context {
    uint64_t ticket;      /* as in MEMORY; 0: it does not ask, or has asked in vain */
    uint64_t has_context; /* 1: it has one there; 0: it has none */
} __attribute__((packed));
static_assert(sizeof(struct frame_context) == 16, "protocol/frames.toml");

/* From client to daemon.
 * Behind the gate that HOLD has closed nothing is in flight, or a thread begins to wait. */
struct frame_held {
    uint64_t turn;   /* that it holds, and keeps */
    uint32_t waits;  /* 1: a thread waits at the gate; 0: none does */
    uint32_t number; /* of the HOLD or STEP that it answers */
} __attribute__((packed));
static_assert(sizeof(struct frame_held) == 16, "protocol/frames.toml");

/* From client to daemon.
 * Does the daemon listen? A thread waits, and nothing has come. Only if SETTINGS say ANSWERS. */
struct frame_ping {
    uint64_t number; /* comes back with PONG */
} __attribute__((packed));
static_assert(sizeof(struct frame_ping) == 8, "protocol/frames.toml");

/* From client to daemon.
 * How often the client itself has refused memory since HELLO. Sent when that changes. */
struct frame_refused {
    uint64_t over_limit; /* times that the memory limit would have been passed */
    uint64_t over_gpu;   /* times that it would have been more than the GPU has */
} __attribute__((packed));
static_assert(sizeof(struct frame_refused) == 16, "protocol/frames.toml");

/* From daemon to client.
 * The answer to HELLO: the client is registered. */
struct frame_welcome {
    uint64_t client_id;      /* its number in this daemon */
    char daemon_version[32]; /* of the daemon */
} __attribute__((packed));
static_assert(sizeof(struct frame_welcome) == 40, "protocol/frames.toml");

/* From daemon to client.
 * The gate may open. */
struct frame_grant {
    uint64_t turn;       /* number of the turn; a later one is larger */
    uint64_t fill_bytes; /* of its memory to bring back before it starts; 0: as it sees fit */
    uint64_t missing;    /* of what it brings back, bytes that others have still to make room for */
} __attribute__((packed));
static_assert(sizeof(struct frame_grant) == 24, "protocol/frames.toml");

/* From daemon to client.
 * Give the turn up: close the gate, let work in flight drain, send RELEASED. */
struct frame_revoke {
    uint64_t turn;        /* the turn that ends */
    uint32_t urgency;     /* enum urgency: when */
    uint32_t idle_us;     /* with WHEN_IDLE: how long without work */
    uint64_t evict_bytes; /* to move to the host as it gives the turn up */
    uint32_t flags;       /* enum revoke_flags: how that is to leave */
    uint32_t reserved;    /* sent as 0 */
} __attribute__((packed));
static_assert(sizeof(struct frame_revoke) == 32, "protocol/frames.toml");

/* From daemon to client.
 * No client waits any more: REVOKE, HOLD and HANDOVER of this turn are void. */
struct frame_keep {
    uint64_t turn; /* the turn that goes on */
} __attribute__((packed));
static_assert(sizeof(struct frame_keep) == 8, "protocol/frames.toml");

/* From daemon to client. Carries a descriptor.
 * To the holder: when you release this turn, write to the socket before you send RELEASED. */
struct frame_handover {
    uint64_t turn;      /* the turn that the receiver holds */
    uint64_t next_turn; /* the turn that begins with the write */
} __attribute__((packed));
static_assert(sizeof(struct frame_handover) == 16, "protocol/frames.toml");

/* From daemon to client. Carries a descriptor.
 * To the next client: when the socket is readable, you hold this turn, as if GRANT had come. */
struct frame_standby {
    uint64_t turn;       /* the turn that begins then */
    uint64_t fill_bytes; /* as in GRANT */
    uint64_t missing;    /* as in GRANT */
} __attribute__((packed));
static_assert(sizeof(struct frame_standby) == 24, "protocol/frames.toml");

/* From daemon to client.
 * HANDOVER of this turn is void: wake no client when you release it. */
struct frame_cancel_handover {
    uint64_t turn; /* the turn that the receiver holds */
} __attribute__((packed));
static_assert(sizeof(struct frame_cancel_handover) == 8, "protocol/frames.toml");

/* From daemon to client.
 * To a client without a turn: move memory to the host, and answer with MOVED. */
struct frame_evict {
    uint64_t evict_bytes; /* to move */
} __attribute__((packed));
static_assert(sizeof(struct frame_evict) == 8, "protocol/frames.toml");

/* From daemon to client.
 * To a client that waits for a turn: bring memory back ahead of it, and answer with MOVED. */
struct frame_fill {
    uint64_t fill_bytes; /* to bring back: there is room for this much; 0: no more */
} __attribute__((packed));
static_assert(sizeof(struct frame_fill) == 8, "protocol/frames.toml");

/* From daemon to client.
 * To a client with a turn: move memory to the host meanwhile, and answer with MOVED. */
struct frame_trim {
    uint64_t trim_bytes; /* to move */
} __attribute__((packed));
static_assert(sizeof(struct frame_trim) == 8, "protocol/frames.toml");

/* From daemon to client.
 * To a client that brings memory back, or moved some out by TRIM: there is room by now. */
struct frame_room {
    uint64_t turn;    /* the turn that it holds */
    uint64_t missing; /* as in GRANT, by now */
} __attribute__((packed));
static_assert(sizeof(struct frame_room) == 16, "protocol/frames.toml");

/* From daemon to client.
 * The limits in force. Sent after WELCOME if there are any, and at every change. */
struct frame_limits {
    uint64_t memory_limit; /* bytes, for a client without a page of its group; 0: none */
    uint32_t reserved;     /* sent as 0; it was the share as set, which no client read */
    uint32_t flags;        /* enum limit_flags: how the limits are meant */
    uint32_t share_ppm;    /* millionths of the GPU's time that it may use; 0: all of it */
    uint32_t window_us;    /* within which the share is to be kept, in microseconds */
    uint32_t own_ppm;      /* millionths of what its events measure that are its own */
    uint32_t clock;        /* thousandths of ours: an emulated GPU has its own time */
} __attribute__((packed));
static_assert(sizeof(struct frame_limits) == 32, "protocol/frames.toml");

/* From daemon to client.
 * How a client bounds its work. Sent after WELCOME and at every change. */
struct frame_settings {
    uint32_t inflight_us;   /* most work in flight, in microseconds */
    uint32_t idle_grace_us; /* a client without work for this long is idle */
    uint32_t flags;         /* enum setting_flags: what the client may do */
    uint32_t usage_ms;      /* milliseconds between two USAGE; 0: as usual */
} __attribute__((packed));
static_assert(sizeof(struct frame_settings) == 16, "protocol/frames.toml");

/* From daemon to client.
 * The daemon listens. */
struct frame_pong {
    uint64_t number; /* of the PING */
} __attribute__((packed));
static_assert(sizeof(struct frame_pong) == 8, "protocol/frames.toml");

/* From daemon to client.
 * The daemon will not have this client. It closes the connection after this frame. */
struct frame_reject {
    uint32_t code;     /* enum reject_code: why */
    uint32_t reserved; /* sent as 0 */
    char text[128];    /* the same for a person */
} __attribute__((packed));
static_assert(sizeof(struct frame_reject) == 136, "protocol/frames.toml");

/* From daemon to client.
 * To a MEMORY or CONTEXT with a ticket. A REVOKE that follows from it has come before. */
struct frame_answer {
    uint64_t ticket;   /* of that frame */
    uint32_t verdict;  /* enum verdict: whether it may be allocated */
    uint32_t reserved; /* sent as 0 */
    uint64_t missing;  /* bytes that others are still moving out to make room for it */
} __attribute__((packed));
static_assert(sizeof(struct frame_answer) == 24, "protocol/frames.toml");

/* From daemon to client.
 * A sentence for the people who run the program: the client prints it as a warning. */
struct frame_notice {
    char text[512]; /* what has happened, and what to do */
} __attribute__((packed));
static_assert(sizeof(struct frame_notice) == 512, "protocol/frames.toml");

/* From daemon to client. Carries a descriptor.
 * Where the limits of the client's group are, and its place there (quota.h). Before WELCOME. */
struct frame_quota {
    uint32_t slot;     /* its number in the page that the descriptor is of */
    uint32_t reserved; /* sent as 0 */
    uint64_t slot_key; /* drawn by the daemon: a client that names it later has this slot */
} __attribute__((packed));
static_assert(sizeof(struct frame_quota) == 16, "protocol/frames.toml");

/* From daemon to client.
 * How a client that is UNDECIDED is to allocate. Before WELCOME, and only once. */
struct frame_allocation {
    uint32_t allocation_kind; /* enum allocation_kind: as the daemon has decided */
    uint32_t flags;           /* enum allocation_flags: what the client may do beside that */
} __attribute__((packed));
static_assert(sizeof(struct frame_allocation) == 8, "protocol/frames.toml");

/* From daemon to client. Carries a descriptor.
 * Host memory for what leaves the GPU: a memory file, the client's alone from now on. */
struct frame_extent {
    uint64_t size; /* its size: whole pages of 2 MiB */
} __attribute__((packed));
static_assert(sizeof(struct frame_extent) == 8, "protocol/frames.toml");

/* From daemon to client.
 * No more host memory can be made now: what lacks a place has to stay on the GPU. */
struct frame_host_full {
    uint64_t held; /* bytes that it has, as the daemon counts */
} __attribute__((packed));
static_assert(sizeof(struct frame_host_full) == 8, "protocol/frames.toml");

/* From daemon to client.
 * Close the gate, let work in flight drain, keep the turn and all memory, send HELD. */
struct frame_hold {
    uint64_t turn;     /* the turn that the receiver holds */
    uint32_t number;   /* that HELD and CANNOT_DRAIN repeat; not 0 */
    uint32_t reserved; /* sent as 0 */
} __attribute__((packed));
static_assert(sizeof(struct frame_hold) == 16, "protocol/frames.toml");

/* From daemon to client.
 * To a client that has said HELD: let one call pass, let it drain, send HELD again. */
struct frame_step {
    uint64_t turn;     /* the turn that the receiver holds */
    uint32_t number;   /* that HELD and CANNOT_DRAIN repeat; not 0 */
    uint32_t reserved; /* sent as 0 */
} __attribute__((packed));
static_assert(sizeof(struct frame_step) == 16, "protocol/frames.toml");

#endif
