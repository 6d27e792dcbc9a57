/* Kills a process when one of its threads has executed so many more instructions.
 *
 *     kill_while_stepping PID THREAD INSTRUCTIONS [LIBRARY]
 *
 * With the name of a library only its own instructions count, and what it calls elsewhere goes on at full speed.
 *
 * It says "ready" when it has stopped the thread, which may be asleep in a call of the kernel's: instructions count from
 * the end of that call. When it is told to end by SIGTERM it lets the thread go instead, and says how many there were.
 * Exit code 77: tracing is not permitted here.
 *
 * An instruction that repeats itself, as copies do, counts once: the thread runs to the one behind it. */
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
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;

/* The signal may come just before a wait, which would not notice: so there are more, until one interrupts it. */
static void end(int number) {
    (void)number;
    is_over = 1;
    ualarm(10000, 10000);
}

struct range {
    uint64_t begin, end;
};

static bool is_in(const struct range *range, uint64_t address) {
    return address - range->begin < range->end - range->begin;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Returns false if nothing more is to be waited for. */
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

/* It is to be let go as it was. */
static void take_back(pid_t thread, int *status) {
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    while (waitpid(thread, status, __WALL) != thread) {
        if (errno != EINTR)
            fail("waitpid");
    }
}

#if defined(__x86_64__)
static bool is_string_code(uint8_t code) {
    return code == 0xa4 || code == 0xa5 || code == 0xaa || code == 0xab; /* movs, stos */
}

/* How long the instruction at the thread's place is if it repeats itself; or 0. */
static uint64_t repeats(pid_t thread, uint64_t at) {
    long word = ptrace(PTRACE_PEEKTEXT, thread, at, NULL);
    const uint8_t *code = (const uint8_t *)&word;
    if (code[0] != 0xf3)
        return 0;
    bool is_long = (code[1] & 0xf0) == 0x40; /* with a REX prefix */
    return is_string_code(code[1 + is_long]) ? 2 + (uint64_t)is_long : 0;
}

static bool break_at(pid_t thread, uint64_t address, bool is_on) {
    size_t registers = offsetof(struct user, u_debugreg);
    return ptrace(PTRACE_POKEUSER, thread, registers, address) == 0 &&
           ptrace(PTRACE_POKEUSER, thread, registers + 7 * sizeof(long), is_on ? 1L : 0L) == 0;
}

/* Where the thread may run to without being looked at, or 0. Whoever has just been called, or jumped to at the end of
 * a function, finds on the stack where that will return to. */
static uint64_t next_stop(pid_t thread, const struct range *counted) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) != 0)
        fail("PTRACE_GETREGS");
    if (!is_in(counted, registers.rip)) {
        uint64_t back = (uint64_t)ptrace(PTRACE_PEEKDATA, thread, registers.rsp, NULL);
        return is_in(counted, back) ? back : 0;
    }
    uint64_t length = repeats(thread, registers.rip);
    return length ? registers.rip + length : 0;
}

static bool go_on(pid_t thread, int *status, long number, const struct range *counted) {
    uint64_t stop = next_stop(thread, counted);
    bool runs = stop && break_at(thread, stop, true);
    ptrace(runs ? PTRACE_CONT : PTRACE_SINGLESTEP, thread, NULL, number);
    bool is_reached = reach(thread, status);
    if (!is_reached)
        take_back(thread, status);
    if (runs)
        break_at(thread, 0, false);
    return is_reached;
}

static bool is_counted(pid_t thread, const struct range *counted) {
    return is_in(counted, (uint64_t)ptrace(PTRACE_PEEKUSER, thread,
                                           offsetof(struct user_regs_struct, rip), NULL));
}
#else
static bool go_on(pid_t thread, int *status, long number, const struct range *counted) {
    (void)counted;
    ptrace(PTRACE_SINGLESTEP, thread, NULL, number);
    return reach(thread, status);
}

static bool is_counted(pid_t thread, const struct range *counted) {
    (void)thread;
    return counted->begin == 0; /* elsewhere nobody knows */
}
#endif

/* Signals that are not ours are passed on. */
static unsigned long step(pid_t thread, unsigned long most, const struct range *counted) {
    int status;
    unsigned long done = 0;
    long number = 0;
    while (done < most && go_on(thread, &status, number, counted)) {
        bool is_step = WSTOPSIG(status) == SIGTRAP;
        done += is_step && is_counted(thread, counted);
        number = is_step ? 0 : WSTOPSIG(status);
    }
    return done;
}

/* Where a library's code is in a process. */
static struct range find_library(pid_t process, const char *name) {
    struct range range = {0, UINT64_MAX};
    char path[64], line[4096];
    if (!name)
        return range;
    snprintf(path, sizeof path, "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    for (bool found = false; maps && !found && fgets(line, sizeof line, maps);)
        found = strstr(line, name) && strstr(line, " r-xp ") &&
                sscanf(line, "%" SCNx64 "-%" SCNx64, &range.begin, &range.end) == 2;
    if (!maps || !range.begin)
        fail(name);
    fclose(maps);
    return range;
}

static void take_hold(pid_t thread) {
    int status;
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0) {
        perror("PTRACE_SEIZE");
        exit(77);
    }
    ptrace(PTRACE_INTERRUPT, thread, NULL, NULL);
    reach(thread, &status);
    puts("ready");
    fflush(stdout);
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = end};
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: kill_while_stepping PID THREAD INSTRUCTIONS [LIBRARY]\n");
        return 2;
    }
    pid_t process = atoi(argv[1]), thread = atoi(argv[2]);
    unsigned long most = strtoul(argv[3], NULL, 10);
    struct range counted = find_library(process, argv[4]);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    take_hold(thread);
    unsigned long done = step(thread, most, &counted);
    if (done == most)
        kill(process, SIGKILL);
    printf("%lu\n", done);
    return 0; /* which lets the thread go, if it is still there */
}
