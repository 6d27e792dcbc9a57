/* The time that prefetches take. Their steps are in migrate.c. */
#include <math.h>

#include "migrate.h"

/* A remainder below a thousandth of a unit is rounding, not work. */
static double less(double left, double by) {
    return left - by < 1e-3 ? 0 : left - by;
}

double migrate_time_to_event(const struct operation *operation, double in, double out_left,
                             double copy_out_left) {
    double soonest = INFINITY;
    if (operation->left > 0)
        soonest = operation->left;
    if (operation->awaits)
        soonest = fmin(soonest, out_left);
    if (operation->copy_awaits)
        soonest = fmin(soonest, copy_out_left);
    if (operation->copy_left > 0)
        soonest = fmin(soonest, operation->copy_left / in);
    return soonest;
}

bool migrate_let_time_pass(struct operation *operation, double in, double ns) {
    bool copies = operation->copy_left > 0;
    operation->left = less(operation->left, ns);
    if (copies)
        operation->copy_left = less(operation->copy_left, in * ns);
    return copies;
}

/* In both directions, queued copies cannot be over before the bus has carried them. */
static double copies_soonest(const struct gpu *gpu, const struct operation *operation) {
    double begun = (double)operation->copy_blocks * (double)BLOCK_BYTES - operation->copy_left;
    double in = ((double)operation->to_copy - begun) * 1e9 / (double)gpu->profile.h2d_bandwidth;
    double left = (double)operation->last_copy - gpu->out_done;
    double out = left > 0 ? left * 1e9 / (double)gpu->profile.d2h_bandwidth : 0;
    return fmax(in, out);
}

/* The least is reached if its blocks are on this GPU and need only be served. */
static double thread_soonest(const struct gpu *gpu, const struct operation *operation) {
    uint32_t later = operation->to_issue - (operation->stretch_blocks < operation->to_issue
                                                ? operation->stretch_blocks
                                                : operation->to_issue);
    return operation->left + (double)later * (double)gpu->profile.service_ns;
}

double migrate_soonest(const struct gpu *gpu, const struct operation *operation) {
    return fmax(thread_soonest(gpu, operation), copies_soonest(gpu, operation));
}

double migrate_issue_soonest(const struct gpu *gpu, const struct operation *operation) {
    if (operation->issued)
        return 0;
    return operation->target == LOCATION_HOST ? migrate_soonest(gpu, operation)
                                              : thread_soonest(gpu, operation);
}
