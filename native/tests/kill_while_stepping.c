/* Kills a process when one of its threads has executed so many more instructions.
 *
 *     kill_while_stepping PID THREAD INSTRUCTIONS
 *
 * It says "ready" when it has stopped the thread, which may be asleep in a call of the kernel's: instructions count from
 * the end of that call. When it is told to end by SIGTERM it lets the thread go instead, and says how many there were.
 * Exit code 77: tracing is not permitted here.
 *
 * An instruction that repeats itself, as copies do, counts once: the thread runs to the one behind it. */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;

static void end(int number) {
    (void)number;
    is_over = 1;
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

static bool go_on(pid_t thread, int *status, long number) {
    struct user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, thread, NULL, &registers) != 0)
        fail("PTRACE_GETREGS");
    uint64_t length = repeats(thread, registers.rip);
    bool runs = length && break_at(thread, registers.rip + length, true);
    ptrace(runs ? PTRACE_CONT : PTRACE_SINGLESTEP, thread, NULL, number);
    if (!reach(thread, status))
        return false;
    if (runs)
        break_at(thread, 0, false);
    return true;
}
#else
static bool go_on(pid_t thread, int *status, long number) {
    ptrace(PTRACE_SINGLESTEP, thread, NULL, number);
    return reach(thread, status);
}
#endif

/* Signals that are not ours are passed on. */
static unsigned long step(pid_t thread, unsigned long most) {
    int status;
    unsigned long done = 0;
    long number = 0;
    while (done < most && go_on(thread, &status, number)) {
        bool is_step = WSTOPSIG(status) == SIGTRAP;
        done += is_step;
        number = is_step ? 0 : WSTOPSIG(status);
    }
    return done;
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
    if (argc != 4) {
        fprintf(stderr, "usage: kill_while_stepping PID THREAD INSTRUCTIONS\n");
        return 2;
    }
    pid_t process = atoi(argv[1]), thread = atoi(argv[2]);
    unsigned long most = strtoul(argv[3], NULL, 10);
    sigaction(SIGTERM, &action, NULL);
    take_hold(thread);
    unsigned long done = step(thread, most);
    if (done == most)
        kill(process, SIGKILL);
    printf("%lu\n", done);
    return 0; /* which lets the thread go, if it is still there */
}
