/* Threads and stacks. */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "habits.h"

static void *work_once(void *nothing) {
    use_context();
    work();
    give_back();
    return nothing;
}

static void *work_for_ever(void *nothing) {
    use_context();
    for (;;) {
        work();
        pthread_testcancel();
    }
    return nothing;
}

static void run(size_t stack, void *(*body)(void *)) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    MUST(pthread_attr_setstacksize(&attributes, stack) == 0);
    MUST(pthread_create(&thread, &attributes, body, NULL) == 0);
    MUST(pthread_join(thread, NULL) == 0);
}

static void on_a_small_stack(void) {
    run(64 << 10, work_once);
}

static void come_and_go(void) {
    for (int i = 0; i < 3; i++)
        run(1 << 20, work_once);
}

static void cancel_in_calls(void) {
    pthread_t thread;
    void *how;
    MUST(pthread_create(&thread, NULL, work_for_ever, NULL) == 0);
    usleep(20000);
    MUST(pthread_cancel(thread) == 0 && pthread_join(thread, &how) == 0);
    note(" %d", how == PTHREAD_CANCELED);
}

static void *leave(void *nothing) {
    work_once(NULL);
    pthread_exit(nothing);
}

static void exit_from_a_thread(void) {
    run(1 << 20, leave);
}

static void work_at_the_end(void *value) {
    (void)value;
    work();
    give_back();
}

static pthread_key_t key;

static void *set_value(void *nothing) {
    work_once(NULL);
    pthread_setspecific(key, &key);
    return nothing;
}

static void work_in_a_destructor(void) {
    MUST(pthread_key_create(&key, work_at_the_end) == 0);
    run(1 << 20, set_value);
}

static ucontext_t inside, outside;

static void work_inside(void) {
    for (;;) {
        work();
        swapcontext(&inside, &outside);
    }
}

static void on_a_stack_of_its_own(void) {
    static char stack[256 << 10];
    MUST(getcontext(&inside) == 0);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    makecontext(&inside, work_inside, 0);
    for (int i = 0; i < 5; i++)
        MUST(swapcontext(&outside, &inside) == 0);
}

static void at_the_lowest_priority(void) {
    const struct sched_param none = {0};
    MUST(setpriority(PRIO_PROCESS, 0, 19) == 0);
    MUST(sched_setscheduler(0, SCHED_BATCH, &none) == 0);
}

static void on_one_processor(void) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    MUST(sched_setaffinity(0, sizeof set, &set) == 0);
}

const struct habit of_threads[] = {
    HABIT(on_a_small_stack),
    HABIT(come_and_go),
    HABIT(cancel_in_calls),
    HABIT(exit_from_a_thread),
    HABIT(work_in_a_destructor),
    HABIT(on_a_stack_of_its_own),
    HABIT(on_one_processor),
    HABIT(at_the_lowest_priority),
    {0},
};
