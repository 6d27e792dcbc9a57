/* Around calls that return when work is done: the time in them is time in which the GPU is busy. */
#ifndef NVSHARE_WAITING_H
#define NVSHARE_WAITING_H

struct usage;

/* Returns what waiting_ends takes: NULL for a program that no daemon manages, and for a thread that
 * has given the GPU no work yet. */
struct usage *waiting_begins(void);
void waiting_ends(struct usage *usage);

#endif
