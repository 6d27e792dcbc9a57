/* Around calls that return when work is done: the time in them is time in which the GPU is busy. */
#ifndef NVSHARE_WAITING_H
#define NVSHARE_WAITING_H

struct usage;

/* Returns what to end the wait with: NULL for a program that no daemon manages, and for a thread that has
 * given the GPU nothing to do yet. */
struct usage *waiting_begins(void);
void waiting_ends(struct usage *usage);

#endif
