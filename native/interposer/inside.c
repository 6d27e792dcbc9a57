#include "inside.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    struct gate_thread *known;
    pthread_once_t once;
    pthread_key_t key; /* so that we hear of a thread's end, however it ends */
    bool has_key;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static bool fence(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0;
}

/* A process has to say first that it is going to. To say it again costs nothing. */
static bool prepare_fence(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0 && fence();
}

/* Its memory is somebody else's soon. Other destructors may still make calls: those are counted, since nobody might
 * tell us of its end a second time. */
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
    inside_is_possible(); /* or nobody is ever known to be outside */
    atomic_store(&gate_marks_calls, true);
}

void inside_introduce(void) {
    struct gate_thread *thread = &gate_thread;
    if (pthread_setspecific(state.key, thread) != 0) {
        thread->standing = GATE_STRAY;
        return;
    }
    pthread_mutex_lock(&state.lock);
    thread->next = state.known;
    thread->link = &state.known;
    if (thread->next)
        thread->next->link = &thread->next;
    state.known = thread;
    thread->standing = GATE_KNOWN;
    pthread_mutex_unlock(&state.lock);
}

/* One that is at no gate is on its way somewhere else, or has passed several. */
static bool is_inside(const struct gate_thread *thread, const struct gate *gate) {
    if (atomic_load_explicit(&thread->inside, memory_order_acquire) <= 0)
        return false;
    const struct gate *at = atomic_load_explicit(&thread->gate, memory_order_relaxed);
    return at == gate || at == &gate_unknown;
}

static bool any_mark(const struct gate *gate) {
    bool any = atomic_load(&gate_strays) > 0;
    pthread_mutex_lock(&state.lock);
    for (const struct gate_thread *thread = state.known; thread && !any; thread = thread->next)
        any = is_inside(thread, gate);
    pthread_mutex_unlock(&state.lock);
    return any;
}

/* The fence interrupts running threads: it is made when it looks as if nobody were inside, and not before. */
bool inside_is_empty(const struct gate *gate) {
    if (any_mark(gate))
        return false;
    return (fence() || prepare_fence()) && !any_mark(gate);
}

/* The gate need not be that of the thread's own context, where its next calls look. */
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
