#include "inside.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "process/clock.h"

/* A launch takes a processor for a few microseconds. */
static const uint64_t longest_call = CLOCK_US(200);

static struct {
    pthread_mutex_t lock;
    struct gate_thread *known;
    pthread_once_t once;
    pthread_key_t key; /* its destructor reports the end of a thread, however it ends */
    bool has_key;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static bool fence(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0;
}

/* A process has to register first. Registering again costs nothing. */
static bool prepare_fence(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0 && fence();
}

/* The thread's memory is about to be reused. Later destructors may still make calls. These are
 * counted, since the end of the thread may not be reported a second time. */
static void part(void *nothing) {
    struct gate_thread *thread = &gate_thread;
    (void)nothing;
    pthread_mutex_lock(&state.lock);
    if (thread->standing == GATE_KNOWN) {
        *thread->link = thread->next;
        if (thread->next)
            thread->next->link = thread->link;
    }
    pthread_mutex_unlock(&state.lock);
    thread->standing = GATE_STRAY;
    atomic_store_explicit(&thread->inside, 0, memory_order_relaxed);
    gate_forget();
}

static void make_key(void) {
    state.has_key = pthread_key_create(&state.key, part) == 0;
}

bool inside_is_possible(void) {
    pthread_once(&state.once, make_key);
    return state.has_key && prepare_fence();
}

void inside_enable(void) {
    inside_is_possible(); /* without it no thread is ever known to be outside */
    atomic_store(&gate_marks_calls, true);
}

void inside_introduce(void) {
    struct gate_thread *thread = &gate_thread;
    pthread_once(&state.once, make_key);
    if (!state.has_key || pthread_setspecific(state.key, thread) != 0) {
        thread->standing = GATE_STRAY;
        return;
    }
    thread->id = (int)syscall(SYS_gettid);
    pthread_mutex_lock(&state.lock);
    thread->next = state.known;
    thread->link = &state.known;
    if (thread->next)
        thread->next->link = &thread->next;
    state.known = thread;
    thread->standing = GATE_KNOWN;
    pthread_mutex_unlock(&state.lock);
}

/* A thread at no gate is on its way to another one, or has passed several. */
static bool is_at(const struct gate_thread *thread, const struct gate *gate) {
    const struct gate *at = atomic_load_explicit(&thread->gate, memory_order_relaxed);
    return at == gate || at == &gate_unknown;
}

static bool is_inside(const struct gate_thread *thread, const struct gate *gate) {
    return atomic_load_explicit(&thread->inside, memory_order_acquire) > 0 && is_at(thread, gate);
}

bool inside_has_marks(const struct gate *gate) {
    bool any = atomic_load(&gate_strays) > 0;
    pthread_mutex_lock(&state.lock);
    for (const struct gate_thread *thread = state.known; thread && !any; thread = thread->next)
        any = is_inside(thread, gate);
    pthread_mutex_unlock(&state.lock);
    return any;
}

/* How long a thread of this process has had a processor. The kernel derives the id of a thread's
 * clock from the thread's id (pthread_getcpuclockid does the same). A thread that has ended has
 * none. */
static uint64_t computed_ns(const struct gate_thread *thread) {
    struct timespec time;
    clockid_t clock = (clockid_t)(~(unsigned)thread->id << 3 | 6);
    if (clock_gettime(clock, &time) != 0)
        return UINT64_MAX;
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

/* A thread that has lost its processor is not asleep. */
static bool is_asleep(const struct gate_thread *thread) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread->id);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[size < 0 ? 0 : size] = 0;
    const char *name_end = strrchr(text, ')'); /* a thread may have any name */
    return !name_end || name_end[1] != ' ' || name_end[2] == 'S';
}

void inside_note_threads(const struct gate *gate) {
    pthread_mutex_lock(&state.lock);
    for (struct gate_thread *thread = state.known; thread; thread = thread->next)
        if (is_at(thread, gate))
            thread->noted_ns = computed_ns(thread);
    pthread_mutex_unlock(&state.lock);
}

bool inside_have_left(const struct gate *gate) {
    bool all = true;
    pthread_mutex_lock(&state.lock);
    for (const struct gate_thread *thread = state.known; thread && all; thread = thread->next)
        if (is_at(thread, gate))
            all = computed_ns(thread) - thread->noted_ns >= longest_call || is_asleep(thread);
    pthread_mutex_unlock(&state.lock);
    return all;
}

/* The fence interrupts running threads, so it is made only when no thread appears to be inside. */
bool inside_is_empty(const struct gate *gate) {
    if (inside_has_marks(gate))
        return false;
    return (fence() || prepare_fence()) && !inside_has_marks(gate);
}

/* The gate need not be that of the thread's own context, which its next calls look at. */
static void come_to(const struct gate *gate) {
    inside_be_known();
    if (gate_here() != gate)
        gate_forget();
}

int inside_enter(struct gate *gate) {
    come_to(gate);
    if (gate_is_inside() && gate_here() == gate) {
        gate_mark();
        return 0;
    }
    return gate_enter(gate);
}

bool inside_try(struct gate *gate) {
    come_to(gate);
    return gate_try(gate);
}

void inside_forget(void) {
    pthread_mutex_init(&state.lock, NULL);
    state.known = NULL;
    atomic_store(&gate_strays, 0);
}
