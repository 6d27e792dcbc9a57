/* Prefetches: managed blocks are moved to a place, by a thread that calls the driver. */
#ifndef NVSHARE_EMULATOR_MIGRATE_H
#define NVSHARE_EMULATOR_MIGRATE_H

#include "stretch.h"

/* Advances a prefetch as far as possible without time passing. Returns whether it changed. */
bool migrate_step(const struct place *place, struct operation *operation);
bool migrate_is_over(const struct operation *operation);

/* Its context has died: no operation may wait for its copies any more. */
void migrate_abandon(const struct place *place, const struct operation *operation);

/* Has a GPU copied to the host up to this point? */
bool out_reached(const struct gpu *gpu, uint64_t point);

/* Emulated time (migrate_time.c), with `in` bytes per ns on the bus. The first returns the ns until
 * the next event of a prefetch; the copies out that it awaits take `out_left` and `copy_out_left`.
 * The second lets ns pass, and returns whether it has copied. */
double migrate_time_to_event(const struct operation *operation, double in, double out_left,
                             double copy_out_left);
bool migrate_let_time_pass(struct operation *operation, double in, double ns);

/* The least time until the call returns, and until the operation is done. */
double migrate_issue_soonest(const struct gpu *gpu, const struct operation *operation);
double migrate_soonest(const struct gpu *gpu, const struct operation *operation);

#endif
