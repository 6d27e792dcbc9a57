/* File descriptors of nvshare in the user's program: out of the way of the program's own, and told
 * from them.
 *
 * A program may close descriptors that it has not opened, as daemons do, and its next files get
 * their numbers. So a number alone does not say that a descriptor is nvshare's: what is kept here
 * is known by its file too, and that is compared before anything is read from it, written to it or
 * closed. Only files with an inode of their own can be kept: sockets, pipes, memory files and files
 * of a file system, but no eventfd.
 *
 * No locks, so a child may use all of it right after fork. errno is left as it was. */
#ifndef NVSHARE_DESCRIPTOR_H
#define NVSHARE_DESCRIPTOR_H

#include <poll.h>
#include <stdbool.h>
#include <time.h>

/* Keeps an open file, and returns its descriptor from now on: a high one, which children do not
 * get after exec, or the given one if there is no other. Returns -1, and closes it, if as many are
 * kept as there is room for. */
int descriptor_keep(int descriptor);

/* Whether it is still what was kept. */
bool descriptor_is_kept(int descriptor);

/* Closes it, unless the program has done so. It may be -1. */
void descriptor_close(int descriptor);

/* ppoll, without a signal mask: also where the program has lowered RLIMIT_NOFILE since, and ppoll
 * refuses to look at so many. Returns the number of those that are ready, or a negative errno. */
int descriptors_await(struct pollfd *set, unsigned count, const struct timespec *timeout);

#endif
