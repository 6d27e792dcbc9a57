/* nvshare's own threads in the user's program. */
#ifndef NVSHARE_THREAD_H
#define NVSHARE_THREAD_H

#include <pthread.h>

/* Starts a thread that receives none of the program's signals. Returns 0 or a negative errno. */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *argument);

/* Waits for a thread to end, but not for long: it must not hold up the end of the program. */
void thread_join_soon(pthread_t thread);

#endif
