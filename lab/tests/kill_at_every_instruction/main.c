/* Kills a process at every instruction of one change to a node, and checks the state it leaves.
 *
 *     kill_at_every_instruction CHANGE STRIDE      (NVSHARE_EMULATOR_NODE names a fresh node)
 *
 * The process is stepped through the change with ptrace, one instruction at a time. Of its own
 * state only two things outlive it: the node, and the kernel's handling of its list of robust
 * mutexes. So a process killed after an instruction that changed neither leaves the same state as
 * one killed before it. A first run records the instructions that did change something. Then, for
 * each of these and for every STRIDE-th besides, a process is taken to that point from the same
 * beginning and killed.
 *
 * Time stands still, or a change would not take the same course each time. A change that needs time
 * advances it itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kill.h"

void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

void check(bool good, const char *what) {
    if (!good)
        fail(what);
}

/* In place of the C library's. */
int clock_gettime(clockid_t clock, struct timespec *now) {
    (void)clock;
    *now = (struct timespec){.tv_sec = 1};
    return 0;
}

/* A process that joins, is set up and dies, perhaps while it holds the lock. */
static void leave_a_dead_process(struct node *node, bool with_lock) {
    int status;
    pid_t pid = begin_process();
    if (pid == 0) {
        int slot = node_join(node);
        set_up_process(node, (uint32_t)slot);
        if (with_lock)
            node_lock(node);
        raise(SIGKILL);
    }
    reach(pid, &status);
}

int main(int count, char **arguments) {
    struct node *node;
    char why[4096];
    check(count == 3, "usage: kill_at_every_instruction CHANGE STRIDE");
    const struct change *change = find_change(arguments[1]);
    uint32_t stride = (uint32_t)strtoul(arguments[2], NULL, 10), kills = 0, marked = 0;
    if (node_attach(&node, why, sizeof why) < 0)
        fail(why);
    set_up_survivor(node);
    if (change->after_death)
        leave_a_dead_process(node, change->lock_abandoned);
    struct image beginning = take_image(node);
    struct course *course = follow(node, change);
    put_back(&beginning);
    for (uint32_t at = 0; at <= course->length; at++) {
        marked += course->marked[at];
        if (!course->marked[at] && at % stride)
            continue;
        fprintf(stderr, "killed after %u instructions: ", at); /* until all is well */
        kill_after(node, change, course, at);
        check_all(node);
        put_back(&beginning);
        fprintf(stderr, "well\n");
        kills++;
    }
    printf("{\"instructions\":%u,\"marked\":%u,\"kills\":%u}\n", course->length, marked, kills);
    drop_image(&beginning);
    free(course);
    return 0;
}
