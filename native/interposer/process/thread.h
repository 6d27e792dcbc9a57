/* Threads of nvshare's own in somebody else's program. */
#ifndef NVSHARE_THREAD_H
#define NVSHARE_THREAD_H

#include <pthread.h>

/* Starts a thread that gets none of the program's signals. Returns 0 or a negative errno. */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *argument);

/* Waits for a thread to end, but not for long: a program that ends must not be held up. */
void thread_join_soon(pthread_t thread);

#endif
