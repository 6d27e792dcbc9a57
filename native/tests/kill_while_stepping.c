/* Kills a process when one of its threads reaches a place.
 *
 *     kill_while_stepping PID THREAD LIBRARY [-t TRACE] [-k PLACE TIMES | -n KNOWN]
 *
 * A dead process leaves only its effects on the outside. The thread is stepped through the code of
 * LIBRARY, which has no such effects by itself except through calls. So it does not matter at which
 * of the instructions between two calls it dies. Places are where something may have changed: after
 * each return into the library, and after each system call of the thread, in any code, unless that
 * call only waits. Other code runs at full speed, and so do other threads.
 *
 * It prints "ready" when it has stopped the thread, which may be asleep in a system call. Then it
 * goes on until the thread has reached PLACE so many TIMES, or a place that is not KNOWN, and kills
 * the process; or until SIGTERM, and releases the thread. In both cases it prints the places of the
 * thread, a line for each: the offset in the library that it has returned to, or "syscall-" and a
 * number; and how often it has been there. KNOWN is a file of such lines. If the process was
 * killed, the last line is "killed".
 *
 * TRACE is a file for the registers before each instruction of the library, as ptrace has them.
 * Exit code 77: tracing is not permitted here. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#if !defined(__x86_64__)
#error "the places of a thread are known on x86-64 only"
#endif

#define SYSTEM_CALL_NAME "syscall-"
enum { PLACES_MAX = 1 << 16, SYSTEM_CALL = SIGTRAP | 0x80 };

static volatile sig_atomic_t is_over;

/* The signal may come just before a wait, which would miss it. So it is repeated until it
 * interrupts the wait. */
static void end(int number) {
    (void)number;
    is_over = 1;
    ualarm(10000, 10000);
}

struct range {
    uint64_t begin, end;
};

struct place {
    int64_t where; /* an offset; or the number of a system call, as -1 - number */
    unsigned long times;
};

struct stepper {
    pid_t thread;
    uint64_t base;        /* of the library, from which offsets count */
    struct range library; /* its code */
    FILE *trace;
    struct user_regs_struct registers;
    long signal;  /* to be passed on */
    bool in_call; /* of the kernel */
    bool is_there;
    struct place places[PLACES_MAX];
    unsigned long count;
    struct place last; /* where the process is to be killed, or 0 times */
    struct place *known;
    unsigned long known_count;
    bool kills_at_new;
};

static bool is_in(const struct range *range, uint64_t address) {
    return address - range->begin < range->end - range->begin;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Returns false if there is nothing more to wait for. */
static bool reach(pid_t thread, int *status) {
    while (waitpid(thread, status, __WALL) != thread) {
        if (errno != EINTR)
            fail("waitpid");
        if (is_over)
            return false;
    }
    if (!WIFSTOPPED(*status))
        fail("the thread has ended");
    return true;
}

static void await_stop(pid_t thread) {
    int status;
    while (waitpid(thread, &status, __WALL) != thread) {
        if (errno != EINTR)
            fail("waitpid");
    }
}

/* The end of a step without a wait for it is a signal, which would kill the process. */
static bool has_trap_pending(pid_t thread) {
    char path[64], line[256];
    uint64_t pending = 0;
    snprintf(path, sizeof path, "/proc/%d/status", thread);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file) &&
           sscanf(line, "SigPnd: %" SCNx64, &pending) != 1) {
    }
    if (file)
        fclose(file);
    return pending >> (SIGTRAP - 1) & 1;
}

/* Stops the thread with no trap pending, so that it can be released unchanged. */
static void take_back(pid_t thread) {
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    await_stop(thread);
    while (has_trap_pending(thread)) {
        ptrace(PTRACE_CONT, thread, NULL, NULL);
        await_stop(thread);
    }
}

static void break_at(pid_t thread, uint64_t address, bool is_on) {
    size_t registers = offsetof(struct user, u_debugreg);
    if (ptrace(PTRACE_POKEUSER, thread, registers, address) != 0 ||
        ptrace(PTRACE_POKEUSER, thread, registers + 7 * sizeof(long), is_on ? 1L : 0L) != 0)
        fail("PTRACE_POKEUSER");
}

static void look(struct stepper *stepper) {
    if (ptrace(PTRACE_GETREGS, stepper->thread, NULL, &stepper->registers) != 0)
        fail("PTRACE_GETREGS");
}

/* A function that was just called, or jumped to by a tail call, has its return address on the
 * stack. */
static uint64_t way_back(const struct stepper *stepper) {
    uint64_t back =
        (uint64_t)ptrace(PTRACE_PEEKDATA, stepper->thread, stepper->registers.rsp, NULL);
    return is_in(&stepper->library, back) ? back : 0;
}

static bool is_system_call(const struct stepper *stepper) {
    long word = ptrace(PTRACE_PEEKTEXT, stepper->thread, stepper->registers.rip, NULL);
    return (word & 0xffff) == 0x050f;
}

static bool is_same(const struct place *a, const struct place *b) {
    return a->where == b->where && a->times == b->times;
}

static bool is_known(const struct stepper *stepper, const struct place *place) {
    for (unsigned long i = 0; i < stepper->known_count; i++)
        if (is_same(&stepper->known[i], place))
            return true;
    return false;
}

static void add_place(struct stepper *stepper, int64_t where) {
    struct place *place = &stepper->places[stepper->count];
    if (stepper->count++ == PLACES_MAX)
        fail("too many places");
    *place = (struct place){where, 1};
    for (unsigned long i = 0; i + 1 < stepper->count; i++)
        place->times += stepper->places[i].where == where;
    stepper->is_there |=
        stepper->kills_at_new ? !is_known(stepper, place) : is_same(&stepper->last, place);
}

static bool go_on(struct stepper *stepper, enum __ptrace_request how, int *status) {
    ptrace(how, stepper->thread, NULL, stepper->signal);
    bool is_reached = reach(stepper->thread, status);
    if (is_reached)
        stepper->signal = (WSTOPSIG(*status) & ~0x80) == SIGTRAP ? 0 : WSTOPSIG(*status);
    else
        take_back(stepper->thread);
    return is_reached;
}

/* Calls that change nothing outside. Their number depends on how long a thread has to wait. */
static bool only_waits(int64_t number) {
    return number == SYS_sched_yield || number == SYS_nanosleep || number == SYS_clock_nanosleep;
}

static void add_system_call(struct stepper *stepper, int64_t number) {
    if (!only_waits(number))
        add_place(stepper, -1 - number);
}

/* One instruction. */
static bool step(struct stepper *stepper) {
    int status;
    bool was_own = is_in(&stepper->library, stepper->registers.rip);
    bool is_call = is_system_call(stepper);
    int64_t number = (int64_t)stepper->registers.rax;
    if (was_own && stepper->trace)
        fwrite(&stepper->registers, sizeof stepper->registers, 1, stepper->trace);
    if (!go_on(stepper, PTRACE_SINGLESTEP, &status))
        return false;
    look(stepper);
    if (is_call)
        add_system_call(stepper, number);
    if (!was_own && is_in(&stepper->library, stepper->registers.rip))
        add_place(stepper, (int64_t)(stepper->registers.rip - stepper->base));
    return true;
}

/* To the next system call, the end of one, or back into the library. */
static bool run(struct stepper *stepper, uint64_t back) {
    int status;
    if (!go_on(stepper, PTRACE_SYSCALL, &status))
        return false;
    look(stepper);
    if (WSTOPSIG(status) == SYSTEM_CALL) {
        stepper->in_call = !stepper->in_call;
        if (!stepper->in_call)
            add_system_call(stepper, (int64_t)stepper->registers.orig_rax);
    } else if (stepper->registers.rip == back) {
        add_place(stepper, (int64_t)(back - stepper->base));
    }
    return true;
}

/* Runs the called function at full speed. */
static bool run_back(struct stepper *stepper, uint64_t back) {
    bool goes_on = true;
    break_at(stepper->thread, back, true);
    while (goes_on && !stepper->is_there && stepper->registers.rip != back)
        goes_on = run(stepper, back);
    break_at(stepper->thread, 0, false);
    return goes_on;
}

static void follow(struct stepper *stepper) {
    bool goes_on = true;
    look(stepper);
    while (goes_on && !stepper->is_there) {
        uint64_t back = is_in(&stepper->library, stepper->registers.rip) ? 0 : way_back(stepper);
        goes_on = back ? run_back(stepper, back) : step(stepper);
    }
}

/* Where a library is in a process, and its code. */
static void find_library(struct stepper *stepper, pid_t process, const char *name) {
    uint64_t begin, end;
    char path[64], line[4096], access[8];
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    while (maps && !stepper->library.end && fgets(line, sizeof line, maps)) {
        if (!strstr(line, name) ||
            sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, access) != 3)
            continue;
        if (!stepper->base)
            stepper->base = begin;
        if (access[2] == 'x')
            stepper->library = (struct range){begin, end};
    }
    if (!maps || !stepper->library.end)
        fail(name);
    fclose(maps);
}

static void take_hold(pid_t thread) {
    int status;
    if (ptrace(PTRACE_SEIZE, thread, NULL, PTRACE_O_TRACESYSGOOD) != 0) {
        perror("PTRACE_SEIZE");
        exit(77);
    }
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    reach(thread, &status);
    puts("ready");
    fflush(stdout);
}

static void tell(const struct stepper *stepper) {
    for (unsigned long i = 0; i < stepper->count; i++) {
        const struct place *place = &stepper->places[i];
        if (place->where < 0)
            printf(SYSTEM_CALL_NAME "%" PRId64 " %lu\n", -1 - place->where, place->times);
        else
            printf("%" PRIx64 " %lu\n", (uint64_t)place->where, place->times);
    }
    if (stepper->is_there)
        puts("killed");
}

static struct place read_place(const char *where, const char *times) {
    const size_t length = strlen(SYSTEM_CALL_NAME);
    struct place place = {.times = strtoul(times, NULL, 10)};
    if (strncmp(where, SYSTEM_CALL_NAME, length) == 0)
        place.where = -1 - strtoll(where + length, NULL, 10);
    else
        place.where = strtoll(where, NULL, 16);
    return place;
}

static FILE *open_file(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (!file)
        fail(path);
    return file;
}

static void read_known(struct stepper *stepper, const char *path) {
    char where[64], times[64];
    FILE *file = open_file(path, "r");
    stepper->kills_at_new = true;
    stepper->known = calloc(PLACES_MAX, sizeof *stepper->known);
    while (stepper->known && stepper->known_count < PLACES_MAX &&
           fscanf(file, "%63s %63s", where, times) == 2)
        stepper->known[stepper->known_count++] = read_place(where, times);
    fclose(file);
}

static bool read_options(struct stepper *stepper, char **at) {
    for (; *at; at += 2) {
        if (strcmp(at[0], "-t") == 0 && at[1])
            stepper->trace = open_file(at[1], "wb");
        else if (strcmp(at[0], "-n") == 0 && at[1])
            read_known(stepper, at[1]);
        else if (strcmp(at[0], "-k") == 0 && at[1] && at[2])
            stepper->last = read_place(at[1], at[2]), at++;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = end};
    static struct stepper stepper;
    if (argc < 4 || !read_options(&stepper, argv + 4)) {
        fprintf(stderr, "usage: kill_while_stepping PID THREAD LIBRARY [-t TRACE] "
                        "[-k PLACE TIMES | -n KNOWN]\n");
        return 2;
    }
    pid_t process = atoi(argv[1]);
    stepper.thread = atoi(argv[2]);
    find_library(&stepper, process, argv[3]);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    take_hold(stepper.thread);
    follow(&stepper);
    if (stepper.is_there)
        kill(process, SIGKILL);
    else
        ptrace(PTRACE_DETACH, stepper.thread, NULL, NULL); /* which also ends its steps */
    tell(&stepper);
    if (stepper.trace)
        fclose(stepper.trace);
    return 0;
}
