/* Processes, instruction by instruction. */
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kill.h"

pid_t begin_process(void) {
    fflush(NULL);
    pid_t pid = fork();
    check(pid >= 0, "cannot fork");
    return pid;
}

void reach(pid_t pid, int *status) {
    check(waitpid(pid, status, 0) == pid, "cannot wait for a process");
}

/* A process that stops before the change and after it. */
static pid_t begin_change(struct node *node, const struct change *change) {
    int status;
    pid_t pid = begin_process();
    if (pid == 0) {
        uint32_t slot = 0;
        if (!change->joins && !change->after_death) {
            slot = (uint32_t)node_join(node);
            set_up_process(node, slot);
        }
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(77);
        raise(SIGSTOP);
        change->make(node, slot);
        raise(SIGSTOP);
        _exit(0);
    }
    reach(pid, &status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        fail("ptrace is not permitted here, and this test is about nothing else. In a container, "
             "allow it: docker run --cap-add=SYS_PTRACE");
    check(WIFSTOPPED(status), "the process did not come to the change");
    return pid;
}

/* Returns false when the process has reached the end of the change. */
static bool step(pid_t pid) {
    int status;
    check(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0, "cannot step a process");
    reach(pid, &status);
    check(WIFSTOPPED(status), "the process ended before its change did");
    return WSTOPSIG(status) == SIGTRAP;
}

static void end_process(pid_t pid) {
    int status;
    kill(pid, SIGKILL);
    reach(pid, &status);
}

#if defined(__x86_64__)
static uint64_t where(pid_t pid) {
    struct user_regs_struct registers;
    check(ptrace(PTRACE_GETREGS, pid, NULL, &registers) == 0, "cannot read registers");
    return registers.rip;
}

/* Lets the process run until it reaches an address. Returns false if it does not. */
static bool run_to(pid_t pid, uint64_t address) {
    int status;
    long code = ptrace(PTRACE_PEEKTEXT, pid, address, NULL);
    long trap = (code & ~0xffL) | 0xcc; /* int3 */
    check(ptrace(PTRACE_POKETEXT, pid, address, trap) == 0, "cannot set a breakpoint");
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    reach(pid, &status);
    check(WIFSTOPPED(status), "the process ended before its change did");
    if (WSTOPSIG(status) != SIGTRAP)
        return false;
    struct user_regs_struct registers;
    ptrace(PTRACE_GETREGS, pid, NULL, &registers);
    registers.rip = address;
    ptrace(PTRACE_SETREGS, pid, NULL, &registers);
    return ptrace(PTRACE_POKETEXT, pid, address, code) == 0;
}

/* The same, after passing the address so many times. */
static bool run_past(pid_t pid, uint64_t address, uint32_t times) {
    bool there = run_to(pid, address);
    for (uint32_t i = 0; i < times && there; i++)
        there = step(pid) && run_to(pid, address);
    return there;
}
#else
/* On other machines every instruction is stepped over, which is slower and just as good: with one
 * address for all, running is never shorter. */
static uint64_t where(pid_t pid) {
    (void)pid;
    return 0;
}

static bool run_past(pid_t pid, uint64_t address, uint32_t times) {
    (void)pid, (void)address, (void)times;
    return true;
}
#endif

struct mutex_list {
    void *address;
    struct robust_list_head head;
};

static struct mutex_list find_robust_list(pid_t pid) {
    struct mutex_list list = {0};
    size_t size;
    check(syscall(SYS_get_robust_list, pid, &list.address, &size) == 0,
          "cannot find the list of robust mutexes");
    return list;
}

static bool list_changed(pid_t pid, struct mutex_list *list) {
    struct robust_list_head now;
    struct iovec to = {&now, sizeof now}, from = {list->address, sizeof now};
    check(process_vm_readv(pid, &to, 1, &from, 1, 0) == sizeof now, "cannot read a process");
    bool changed = memcmp(&now, &list->head, sizeof now) != 0;
    list->head = now;
    return changed;
}

static uint32_t times_passed(const struct course *course, uint32_t at) {
    for (uint32_t i = at; i > 0; i--)
        if (course->address[i - 1] == course->address[at])
            return course->passed[i - 1] + 1;
    return 0;
}

/* The first run: records the instructions, and which of them leave a trace. */
struct course *follow(struct node *node, const struct change *change) {
    struct course *course = calloc(1, sizeof *course);
    check(course, "no memory");
    pid_t pid = begin_change(node, change);
    struct image image = take_image(node);
    struct mutex_list list = find_robust_list(pid);
    list_changed(pid, &list);
    course->marked[0] = true;
    for (uint32_t at = 0;; at++) {
        check(at < MAX_INSTRUCTIONS, "the change is too long");
        course->address[at] = where(pid);
        course->passed[at] = times_passed(course, at);
        course->length = at;
        if (!step(pid))
            break;
        bool node_changed = update_image(&image);
        course->marked[at + 1] = list_changed(pid, &list) || node_changed;
    }
    drop_image(&image);
    end_process(pid);
    return course;
}

/* The point from which stepping is fastest: running to an address stops at each passage. */
static uint32_t waypoint(const struct course *course, uint32_t instructions) {
    uint32_t best = 0, best_stops = instructions;
    for (uint32_t at = 1; at <= instructions; at++) {
        uint32_t stops = 2 * course->passed[at] + 1 + instructions - at;
        if (stops < best_stops) {
            best = at;
            best_stops = stops;
        }
    }
    return best;
}

/* Takes a process through so many instructions of the change and kills it there. */
void kill_after(struct node *node, const struct change *change, const struct course *course,
                uint32_t instructions) {
    uint32_t at = waypoint(course, instructions);
    pid_t pid = begin_change(node, change);
    bool on_course = !at || run_past(pid, course->address[at], course->passed[at]);
    for (; on_course && at < instructions; at++)
        on_course = step(pid);
    check(on_course, "the change took another course than the first time");
    end_process(pid);
}
