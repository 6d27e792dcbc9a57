#include "thread.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "clock.h"

enum { STACK_BYTES = 1 << 20, PAUSE_US = 100 };

static const uint64_t join_patience = CLOCK_MS(1000);

/* Signals belong to the program, and go to its own threads. */
int thread_start(pthread_t *thread, const char *name, void *(*run)(void *), void *argument) {
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = pthread_create(thread, &attributes, run, argument);
    /* The program's thread-local variables are on the stack too, and can be larger than that. */
    if (result != 0)
        result = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (result == 0)
        pthread_setname_np(*thread, name);
    return -result;
}

/* By a clock that is never set: if the time of day went back meanwhile, a wait until some time of
 * day would last that much longer, and the program would not end. */
void thread_join_soon(pthread_t thread) {
    uint64_t until = clock_now() + join_patience;
    while (pthread_tryjoin_np(thread, NULL) == EBUSY && clock_now() < until)
        usleep(PAUSE_US);
}
