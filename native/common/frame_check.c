/* Whether the fields of a frame are what protocol/frames.toml lets them be.
 *
 * Generated from that file by `python -m protocol.generate`: do not edit. */
#include <errno.h>

#include "frame.h"

static int check_hello(const struct frame_view *view) {
    struct frame_hello fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && (fields.allocation_kind < 1 || fields.allocation_kind > 4))
        result = -ERANGE;
    if (result == 0 && fields.allocated > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.pinned > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.swapped_out > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.memory_limit > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.compute_percent > UINT64_C(0x64))
        result = -ERANGE;
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.untouched > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.kept > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_want(const struct frame_view *view) {
    struct frame_want fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    return result;
}

static int check_released(const struct frame_view *view) {
    struct frame_released fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && (fields.reason < 1 || fields.reason > 3))
        result = -ERANGE;
    if (result == 0 && fields.wants > UINT64_C(0x1))
        result = -ERANGE;
    if (result == 0 && fields.handed_turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.allocated > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.pinned > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.swapped_out > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.moved_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.moved_ns > UINT64_C(0x4000000000000))
        result = -ERANGE;
    if (result == 0 && fields.left > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.untouched > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.kept > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_memory(const struct frame_view *view) {
    struct frame_memory fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.allocated > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.pinned > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.swapped_out > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.untouched > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.kept > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_moved(const struct frame_view *view) {
    struct frame_moved fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.allocated > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.pinned > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.swapped_out > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.out_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.in_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.ns > UINT64_C(0x4000000000000))
        result = -ERANGE;
    if (result == 0 && fields.left > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.untouched > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.kept > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_usage(const struct frame_view *view) {
    struct frame_usage fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.busy_ns > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.launches > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.throttled_ns > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.gpu_ns > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    return result;
}

static int check_allocates(const struct frame_view *view) {
    struct frame_allocates fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && (fields.allocation_kind < 1 || fields.allocation_kind > 4))
        result = -ERANGE;
    return result;
}

static int check_pinned(const struct frame_view *view) {
    struct frame_pinned fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.as_asked > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.handles > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.rdma > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.exported > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.several_gpus > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.pools > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.arrays > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.graphs > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_host(const struct frame_view *view) {
    struct frame_host fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.received > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.held > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.most > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.lacking > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_cannot_drain(const struct frame_view *view) {
    struct frame_cannot_drain fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && (fields.reason < 1 || fields.reason > 3))
        result = -ERANGE;
    return result;
}

static int check_can_drain(const struct frame_view *view) {
    struct frame_can_drain fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    return result;
}

static int check_context(const struct frame_view *view) {
    struct frame_context fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.has_context > UINT64_C(0x1))
        result = -ERANGE;
    return result;
}

static int check_held(const struct frame_view *view) {
    struct frame_held fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.waits > UINT64_C(0x1))
        result = -ERANGE;
    if (result == 0 && fields.number < 1)
        result = -ERANGE;
    return result;
}

static int check_ping(const struct frame_view *view) {
    struct frame_ping fields;
    int result = frame_take(view, &fields, sizeof fields);
    return result;
}

static int check_refused(const struct frame_view *view) {
    struct frame_refused fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.over_limit > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.over_gpu > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    return result;
}

static int check_welcome(const struct frame_view *view) {
    struct frame_welcome fields;
    int result = frame_take(view, &fields, sizeof fields);
    return result;
}

static int check_grant(const struct frame_view *view) {
    struct frame_grant fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && (fields.turn < 1 || fields.turn > UINT64_C(0x4000000000000000)))
        result = -ERANGE;
    if (result == 0 && fields.fill_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.missing > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_revoke(const struct frame_view *view) {
    struct frame_revoke fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && (fields.urgency < 1 || fields.urgency > 2))
        result = -ERANGE;
    if (result == 0 && fields.evict_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_keep(const struct frame_view *view) {
    struct frame_keep fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    return result;
}

static int check_handover(const struct frame_view *view) {
    struct frame_handover fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && (fields.next_turn < 1 || fields.next_turn > UINT64_C(0x4000000000000000)))
        result = -ERANGE;
    return result;
}

static int check_standby(const struct frame_view *view) {
    struct frame_standby fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && (fields.turn < 1 || fields.turn > UINT64_C(0x4000000000000000)))
        result = -ERANGE;
    if (result == 0 && fields.fill_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.missing > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_cancel_handover(const struct frame_view *view) {
    struct frame_cancel_handover fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    return result;
}

static int check_evict(const struct frame_view *view) {
    struct frame_evict fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.evict_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_fill(const struct frame_view *view) {
    struct frame_fill fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.fill_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_trim(const struct frame_view *view) {
    struct frame_trim fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.trim_bytes > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_room(const struct frame_view *view) {
    struct frame_room fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.missing > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_limits(const struct frame_view *view) {
    struct frame_limits fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.memory_limit > UINT64_C(0x10000000000000))
        result = -ERANGE;
    if (result == 0 && fields.share_ppm > UINT64_C(0xf4240))
        result = -ERANGE;
    if (result == 0 && fields.own_ppm > UINT64_C(0xf4240))
        result = -ERANGE;
    if (result == 0 && fields.clock > UINT64_C(0x3b9aca00))
        result = -ERANGE;
    return result;
}

static int check_settings(const struct frame_view *view) {
    struct frame_settings fields;
    int result = frame_take(view, &fields, sizeof fields);
    return result;
}

static int check_pong(const struct frame_view *view) {
    struct frame_pong fields;
    int result = frame_take(view, &fields, sizeof fields);
    return result;
}

static int check_reject(const struct frame_view *view) {
    struct frame_reject fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && (fields.code < 1 || fields.code > 5))
        result = -ERANGE;
    return result;
}

static int check_answer(const struct frame_view *view) {
    struct frame_answer fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && (fields.verdict < 1 || fields.verdict > 4))
        result = -ERANGE;
    if (result == 0 && fields.missing > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_notice(const struct frame_view *view) {
    struct frame_notice fields;
    int result = frame_take(view, &fields, sizeof fields);
    return result;
}

static int check_quota(const struct frame_view *view) {
    struct frame_quota fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.slot > UINT64_C(0x3ff))
        result = -ERANGE;
    return result;
}

static int check_allocation(const struct frame_view *view) {
    struct frame_allocation fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && (fields.allocation_kind < 1 || fields.allocation_kind > 4))
        result = -ERANGE;
    return result;
}

static int check_extent(const struct frame_view *view) {
    struct frame_extent fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.size > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_host_full(const struct frame_view *view) {
    struct frame_host_full fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.held > UINT64_C(0x10000000000000))
        result = -ERANGE;
    return result;
}

static int check_hold(const struct frame_view *view) {
    struct frame_hold fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.number < 1)
        result = -ERANGE;
    return result;
}

static int check_step(const struct frame_view *view) {
    struct frame_step fields;
    int result = frame_take(view, &fields, sizeof fields);
    if (result == 0 && fields.turn > UINT64_C(0x4000000000000000))
        result = -ERANGE;
    if (result == 0 && fields.number < 1)
        result = -ERANGE;
    return result;
}

uint16_t frame_version(uint16_t type) {
    switch (type) {
    default: return 1;
    }
}

size_t frame_least(uint16_t type, size_t size) {
    switch (type) {
    case FRAME_HELLO: return 128;
    case FRAME_RELEASED: return 64;
    case FRAME_MEMORY: return 32;
    case FRAME_MOVED: return 56;
    case FRAME_ALLOCATES: return 4;
    case FRAME_PINNED: return 56;
    case FRAME_CANNOT_DRAIN: return 12;
    case FRAME_GRANT: return 16;
    case FRAME_REVOKE: return 24;
    case FRAME_STANDBY: return 16;
    case FRAME_HOLD: return 12;
    case FRAME_STEP: return 12;
    default: return size;
    }
}

int frame_check(const struct frame_view *view) {
    switch (view->type) {
    case FRAME_HELLO: return check_hello(view);
    case FRAME_WANT: return check_want(view);
    case FRAME_RELEASED: return check_released(view);
    case FRAME_MEMORY: return check_memory(view);
    case FRAME_MOVED: return check_moved(view);
    case FRAME_USAGE: return check_usage(view);
    case FRAME_ALLOCATES: return check_allocates(view);
    case FRAME_PINNED: return check_pinned(view);
    case FRAME_HOST: return check_host(view);
    case FRAME_CANNOT_DRAIN: return check_cannot_drain(view);
    case FRAME_CAN_DRAIN: return check_can_drain(view);
    case FRAME_CONTEXT: return check_context(view);
    case FRAME_HELD: return check_held(view);
    case FRAME_PING: return check_ping(view);
    case FRAME_REFUSED: return check_refused(view);
    case FRAME_WELCOME: return check_welcome(view);
    case FRAME_GRANT: return check_grant(view);
    case FRAME_REVOKE: return check_revoke(view);
    case FRAME_KEEP: return check_keep(view);
    case FRAME_HANDOVER: return check_handover(view);
    case FRAME_STANDBY: return check_standby(view);
    case FRAME_CANCEL_HANDOVER: return check_cancel_handover(view);
    case FRAME_EVICT: return check_evict(view);
    case FRAME_FILL: return check_fill(view);
    case FRAME_TRIM: return check_trim(view);
    case FRAME_ROOM: return check_room(view);
    case FRAME_LIMITS: return check_limits(view);
    case FRAME_SETTINGS: return check_settings(view);
    case FRAME_PONG: return check_pong(view);
    case FRAME_REJECT: return check_reject(view);
    case FRAME_ANSWER: return check_answer(view);
    case FRAME_NOTICE: return check_notice(view);
    case FRAME_QUOTA: return check_quota(view);
    case FRAME_ALLOCATION: return check_allocation(view);
    case FRAME_EXTENT: return check_extent(view);
    case FRAME_HOST_FULL: return check_host_full(view);
    case FRAME_HOLD: return check_hold(view);
    case FRAME_STEP: return check_step(view);
    default: return 0;
    }
}
