/* inside.c with gate.c, through the entry of programs: no call is inside when memory is taken away.
 * Prints nothing if all is well.
 *
 *     inside_check storm THREADS ROUNDS   calls from all sides, while memory goes and comes
 *     inside_check race ROUNDS            one thread calls; the gate closes while its marks are on their way
 *     inside_check states                 which threads count as inside of which gate; threads that
 *                                         end; fork */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "gate/inside.h"
#include "lookup/driver.h"

enum { THREADS_MAX = 64, LINES = 1 << 20, LINE = 64, STRIDE = 4097, WRITES = 48, LOOKS = 2000 };

struct driver_calls real;
static struct gate gate, other;
static _Atomic bool memory_is_there = true, ended, impatient;
static _Atomic long calls;

/* More than any cache holds. A thread makes slow stores before it marks itself: its mark is seen
 * late, although it reads the gate at once. */
static struct {
    _Alignas(LINE) _Atomic long word;
} lines[LINES];

static void write_lines(void) {
    static _Thread_local unsigned at;
    for (int i = 0; i < WRITES; i++, at = (at + STRIDE) % LINES)
        atomic_store_explicit(&lines[at].word, i, memory_order_relaxed);
}

static void knock(void *argument) {
    (void)argument;
}

static void use_memory(void) {
    for (int i = 0; i < LOOKS; i++)
        CHECK(atomic_load_explicit(&memory_is_there, memory_order_relaxed));
    write_lines();
}

/* The driver's function: the eleventh argument is as far from the first as can be. */
static CUresult launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, CUstream stream,
                       void **parameters, void **extra) {
    CHECK(f == (CUfunction)&gate && gx == 1 && gy == 2 && gz == 3 && bx == 4 && by == 5 && bz == 6);
    CHECK(shared == 7 && stream == (CUstream)8 && parameters == (void **)9);
    CHECK(extra == (void **)10);
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    use_memory();
    return CUDA_ERROR_NOT_READY;
}

/* And one with an even number of arguments on the stack, which has to stay aligned: none. */
static CUresult launch_graph(CUgraphExec graph, CUstream stream) {
    CHECK((uintptr_t)__builtin_frame_address(0) % 16 == 0);
    CHECK(graph == (CUgraphExec)1 && stream == (CUstream)2);
    use_memory();
    return CUDA_ERROR_NOT_READY;
}

static CUresult come_in(void) {
    inside_be_known();
    gate_be_at(&gate);
    gate_thread.budget = 50;
    while (atomic_load_explicit(&impatient, memory_order_relaxed))
        if (inside_try(&gate))
            return CUDA_SUCCESS;
    return inside_enter(&gate) < 0 ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_SUCCESS;
}

__attribute__((used)) CUresult slow_cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy,
                                                   unsigned gz, unsigned bx, unsigned by,
                                                   unsigned bz, unsigned shared, CUstream stream,
                                                   void **parameters, void **extra) {
    CUresult result = come_in();
    if (result)
        return result;
    result = real.cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
    gate_leave();
    return result;
}

__attribute__((used)) CUresult slow_cuGraphLaunch(CUgraphExec graph, CUstream stream) {
    CUresult result = come_in();
    if (result)
        return result;
    result = real.cuGraphLaunch(graph, stream);
    gate_leave();
    return result;
}

#include "gate/gate_entry.h"
GATE_ENTRY(cuLaunchKernel, 0, 5,
           (CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
            unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra),
           (f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra));
GATE_ENTRY(cuGraphLaunch, 48, 0, (CUgraphExec graph, CUstream stream), (graph, stream));

static void call(void) {
    CHECK(cuLaunchKernel((CUfunction)&gate, 1, 2, 3, 4, 5, 6, 7, (CUstream)8, (void **)9,
                         (void **)10) == CUDA_ERROR_NOT_READY);
    CHECK(cuGraphLaunch((CUgraphExec)1, (CUstream)2) == CUDA_ERROR_NOT_READY);
}

static void *call_on(void *nothing) {
    while (!atomic_load(&ended))
        call();
    return nothing;
}

/* Like our own code that needs the gate to stay open. */
static void *hold_on(void *nothing) {
    while (!atomic_load(&ended)) {
        if (!inside_try(&gate))
            CHECK(inside_enter(&gate) == 0);
        use_memory();
        inside_leave();
        sched_yield();
    }
    return nothing;
}

static void *make_one_call(void *nothing) {
    call();
    return nothing;
}

static void *come_and_go(void *nothing) {
    while (!atomic_load(&ended)) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, make_one_call, NULL) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    return nothing;
}

static void close_and_wait(void) {
    gate_close(&gate);
    while (!inside_is_empty(&gate))
        sched_yield();
}

static void run_storm(unsigned threads, int rounds) {
    void *(*const kinds[])(void *) = {call_on, call_on, hold_on, call_on, come_and_go};
    pthread_t all[THREADS_MAX];
    for (unsigned i = 0; i < threads; i++)
        CHECK(pthread_create(&all[i], NULL, kinds[i % 5], NULL) == 0);
    for (int round = 0; round < rounds; round++) {
        long before = atomic_load(&calls);
        gate_open(&gate);
        if (round % 4 == 0)
            gate_watch(&gate);
        while (atomic_load(&calls) < before + round % 16)
            sched_yield();
        close_and_wait();
        atomic_store(&memory_is_there, false);
        usleep((unsigned)round % 32);
        atomic_store(&memory_is_there, true);
    }
    atomic_store(&ended, true);
    gate_open(&gate);
    for (unsigned i = 0; i < threads; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
    CHECK(inside_is_empty(&gate));
}

static void pause_for(unsigned steps) {
    for (volatile unsigned i = 0; i < steps;)
        i++;
}

/* Binds the thread to the n-th processor that we may use, if there are so many. */
static void keep_to(pthread_t thread, int n) {
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &all) && n-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(i, &one);
            CHECK(pthread_setaffinity_np(thread, sizeof one, &one) == 0);
        }
}

/* No thread sleeps, so that there are many rounds; and the gate closes at any moment of a call. */
static void run_race(int rounds) {
    pthread_t caller;
    unsigned seed = 7;
    atomic_store(&impatient, true);
    CHECK(pthread_create(&caller, NULL, call_on, NULL) == 0);
    keep_to(caller, 1);
    keep_to(pthread_self(), 0);
    for (int round = 0; round < rounds; round++) {
        gate_open(&gate);
        for (long before = atomic_load(&calls); atomic_load(&calls) < before + 3;)
            ;
        pause_for((unsigned)rand_r(&seed) % 4000);
        close_and_wait();
        atomic_store(&memory_is_there, false);
        pause_for(4000);
        atomic_store(&memory_is_there, true);
    }
    atomic_store(&ended, true);
    gate_open(&gate);
    CHECK(pthread_join(caller, NULL) == 0);
}

/* A thread that is inside until the test lets it leave. */
static struct {
    struct gate *gate, *at; /* that it enters, and that its own calls look at */
    _Atomic bool is_in, may_leave;
    void (*end)(void);
} visit;

static void *stay_inside(void *nothing) {
    inside_be_known();
    gate_be_at(visit.at);
    CHECK(inside_enter(visit.gate) == 0);
    atomic_store(&visit.is_in, true);
    while (!atomic_load(&visit.may_leave)) {
        pthread_testcancel();
        usleep(100);
    }
    if (visit.end)
        visit.end();
    inside_leave();
    return nothing;
}

static pthread_t begin_visit(struct gate *entered, struct gate *at, void (*end)(void)) {
    pthread_t thread;
    visit.gate = entered, visit.at = at, visit.end = end;
    atomic_store(&visit.is_in, false);
    atomic_store(&visit.may_leave, false);
    CHECK(pthread_create(&thread, NULL, stay_inside, NULL) == 0);
    while (!atomic_load(&visit.is_in))
        usleep(100);
    return thread;
}

static void end_visit(pthread_t thread) {
    atomic_store(&visit.may_leave, true);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(inside_is_empty(&gate) && inside_is_empty(&other));
}

static void exit_thread(void) {
    pthread_exit(NULL);
}

static void check_whose(void) {
    pthread_t thread = begin_visit(&gate, &gate, NULL);
    gate_close(&gate);
    CHECK(!inside_is_empty(&gate) && inside_is_empty(&other));
    end_visit(thread);
    gate_open(&gate);
    /* A thread whose gate is not that of its own context may be inside of any. */
    thread = begin_visit(&gate, &other, NULL);
    CHECK(!inside_is_empty(&gate) && !inside_is_empty(&other));
    end_visit(thread);
}

static void check_ends(void) {
    end_visit(begin_visit(&gate, &gate, exit_thread));
    pthread_t thread = begin_visit(&gate, &gate, NULL);
    CHECK(pthread_cancel(thread) == 0);
    end_visit(thread);
}

static void *enter_and_leave(void *nothing) {
    inside_be_known();
    gate_be_at(&gate);
    CHECK(inside_enter(&gate) == 0);
    inside_leave();
    return nothing;
}

static void check_waiting(void) {
    pthread_t thread;
    gate_close(&gate);
    CHECK(pthread_create(&thread, NULL, enter_and_leave, NULL) == 0);
    while (gate_waiting(&gate) == 0)
        usleep(100);
    CHECK(inside_is_empty(&gate));
    gate_open(&gate);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* A nested call, as profilers make them, does not wait for a gate that waits for the outer call. */
static void check_nested(void) {
    CHECK(come_in() == CUDA_SUCCESS);
    gate_close(&gate);
    CHECK(come_in() == CUDA_SUCCESS);
    gate_leave();
    CHECK(!inside_is_empty(&gate));
    gate_leave();
    CHECK(inside_is_empty(&gate) && !inside_try(&gate));
    gate_open(&gate);
    /* In between it may have been inside of another gate. */
    CHECK(come_in() == CUDA_SUCCESS);
    gate_be_at(&other);
    CHECK(!inside_is_empty(&gate));
    gate_leave();
}

static void check_watched(void) {
    gate_watch(&gate);
    CHECK(inside_is_empty(&gate) && !gate_was_used(&gate));
    CHECK(inside_try(&gate) && gate_was_used(&gate) && !gate_close_if_unused(&gate));
    inside_leave();
    gate_watch(&gate);
    CHECK(gate_close_if_unused(&gate) && !inside_try(&gate));
    gate_open(&gate);
}

static pthread_key_t last_words;

/* After the thread was forgotten: its key is the older one, and is called first. */
static void speak(void *argument) {
    (void)argument;
    CHECK(gate_thread.standing == GATE_STRAY && come_in() == CUDA_SUCCESS);
    CHECK(!inside_is_empty(&gate) && !inside_is_empty(&other) && gate_here() == &gate_unknown);
    gate_leave();
    CHECK(inside_is_empty(&gate));
    call();
}

static void *speak_last(void *argument) {
    CHECK(pthread_setspecific(last_words, argument) == 0);
    call();
    return NULL;
}

static void check_last_words(void) {
    pthread_t thread;
    CHECK(pthread_key_create(&last_words, speak) == 0);
    CHECK(pthread_create(&thread, NULL, speak_last, &gate) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

/* The child has one thread, whichever threads were inside in the parent. */
static void check_fork(void) {
    pthread_t thread = begin_visit(&gate, &gate, NULL);
    pid_t child = fork();
    if (child == 0) {
        gate_thread = (struct gate_thread){.gate = &gate_unknown};
        inside_forget();
        if (!inside_is_empty(&gate) || come_in() != CUDA_SUCCESS || inside_is_empty(&gate))
            _exit(1);
        gate_leave();
        _exit(!inside_is_empty(&gate));
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    end_visit(thread);
}

static void run_states(void) {
    gate_open(&gate);
    gate_open(&other);
    check_whose();
    check_ends();
    check_waiting();
    check_nested();
    check_watched();
    check_last_words();
    check_fork();
}

int main(int count, char **arguments) {
    CHECK(inside_is_possible());
    inside_enable();
    real.cuLaunchKernel = launch;
    real.cuGraphLaunch = launch_graph;
    gate_init(&gate, knock, NULL);
    gate_init(&other, knock, NULL);
    if (count == 4 && strcmp(arguments[1], "storm") == 0)
        run_storm((unsigned)atoi(arguments[2]), atoi(arguments[3]));
    else if (count == 3 && strcmp(arguments[1], "race") == 0)
        run_race(atoi(arguments[2]));
    else if (count == 2 && strcmp(arguments[1], "states") == 0)
        run_states();
    else
        return 2;
    return 0;
}
