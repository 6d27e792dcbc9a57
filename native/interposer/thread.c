#include "thread.h"

#include <signal.h>
#include <time.h>

enum { STACK_BYTES = 1 << 20 };

/* Signals are the program's, and go to its own threads. */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *argument) {
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(thread, &attributes, run, argument);
    /* Thread-local variables of the program are on the stack too, and can be larger than that. */
    if (result != 0)
        result = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (result == 0)
        pthread_setname_np(*thread, name);
    return -result;
}

void thread_join_soon(pthread_t thread) {
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_sec += 1;
    pthread_timedjoin_np(thread, NULL, &soon);
}
