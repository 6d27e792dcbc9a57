/* Children, and what a process is allowed to be and do. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "habits.h"

enum { NOBODY = 65534 };

static void ends_well(pid_t child) {
    int status;
    MUST(child > 0 && waitpid(child, &status, 0) == child);
    MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fork_again_and_again(void) {
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(0);
        ends_well(child);
        work();
    }
}

static void fork_and_close_all(void) {
    pid_t child = fork();
    if (child == 0) {
        MUST(syscall(SYS_close_range, 3, ~0u, 0) == 0);
        MUST(open("/dev/null", O_RDWR) == 3);
        exit(0);
    }
    work();
    ends_well(child);
}

static void vfork_and_exec(void) {
    for (int i = 0; i < 5; i++) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/bin/true", "true", NULL);
            _exit(1);
        }
        ends_well(child);
    }
}

static void spawn_a_chain(void) {
    char *const words[] = {"sh", "-c", "exec sh -c 'exec sh -c \"exec true\"'", NULL};
    pid_t child;
    MUST(posix_spawn(&child, "/bin/sh", NULL, NULL, words, NULL) == 0);
    ends_well(child);
    MUST(system("true | true") == 0);
}

/* Past the C library, so that nobody learns of it. */
static void clone_by_itself(void) {
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (child == 0)
        for (;;)
            syscall(SYS_pause);
    MUST(child > 0);
    work();
    MUST(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
}

/* The child has the descriptors, and not a copy of them. */
static int close_theirs(void *nothing) {
    (void)nothing;
    syscall(SYS_close_range, 3, ~0u, 0);
    return 0;
}

static void share_descriptors_with_a_child(void) {
    static char stack[64 << 10] __attribute__((aligned(16)));
    ends_well(clone(close_theirs, stack + sizeof stack, CLONE_FILES | SIGCHLD, NULL));
}

static void is_stopped_by_a_tracer(void) {
    pid_t parent = getpid(), tracer = fork();
    MUST(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) == 0 || errno == EINVAL);
    if (tracer == 0) {
        for (int i = 0; i < 5; i++) {
            if (ptrace(PTRACE_SEIZE, parent, 0, 0) < 0 ||
                ptrace(PTRACE_INTERRUPT, parent, 0, 0) < 0 || waitpid(parent, NULL, __WALL) < 0)
                _exit(1);
            usleep(5000);
            if (ptrace(PTRACE_DETACH, parent, 0, 0) < 0)
                _exit(1);
        }
        _exit(0);
    }
    for (int i = 0; i < 10; i++)
        work();
    ends_well(tracer);
}

static void is_stopped(void) {
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        kill(parent, SIGSTOP);
        usleep(50000);
        kill(parent, SIGCONT);
        _exit(0);
    }
    work();
    ends_well(child);
}

static void another_user(void) {
    MUST(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    note(" %d", (int)getuid());
}

static void another_root(void) {
    MUST(chroot("/proc/self/fdinfo") == 0 && chdir("/") == 0);
}

static void another_folder_and_mask(void) {
    MUST(chdir("/") == 0);
    umask(0777);
    MUST(unshare(CLONE_FS) == 0);
}

static void a_session_of_its_own(void) {
    note(" %d", setsid() == getpid() || errno == EPERM);
}

static void undumpable(void) {
    MUST(prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
}

static void other_names_and_slack(void) {
    MUST(prctl(PR_SET_NAME, "nvshare") == 0 && prctl(PR_SET_TIMERSLACK, 50000000) == 0);
    MUST(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
}

/* Fails these calls in all threads. */
static void forbid(const int *calls, unsigned count, int error, bool in_all) {
    struct sock_filter filter[64];
    unsigned length = 0;
    filter[length++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < count; i++) {
        filter[length++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        filter[length++] =
            (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {(unsigned short)length, filter};
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, in_all ? SECCOMP_FILTER_FLAG_TSYNC : 0,
                 &program) == 0);
}

static void no_sockets_any_more(void) {
    static const int calls[] = {SYS_socket, SYS_socketpair, SYS_connect, SYS_sendmsg,
                                SYS_sendto, SYS_recvmsg,    SYS_recvfrom};
    forbid(calls, sizeof calls / sizeof *calls, EPERM, true);
}

static void no_waiting_for_descriptors(void) {
    static const int calls[] = {SYS_ppoll, SYS_pselect6, SYS_epoll_pwait};
    forbid(calls, sizeof calls / sizeof *calls, ENOSYS, true);
}

static void no_looking_at_descriptors(void) {
    static const int calls[] = {SYS_fstat, SYS_newfstatat, SYS_fcntl};
    forbid(calls, sizeof calls / sizeof *calls, EPERM, true);
}

static void no_threads_any_more(void) {
    static const int calls[] = {SYS_clone, SYS_clone3, SYS_membarrier, SYS_mlock};
    forbid(calls, sizeof calls / sizeof *calls, EAGAIN, true);
}

const struct habit of_processes[] = {
    HABIT(fork_again_and_again),
    HABIT(fork_and_close_all),
    HABIT(vfork_and_exec),
    HABIT(spawn_a_chain),
    HABIT(clone_by_itself),
    HABIT(share_descriptors_with_a_child),
    HABIT(is_stopped_by_a_tracer),
    HABIT(is_stopped),
    HABIT(another_user),
    HABIT(another_root),
    HABIT(another_folder_and_mask),
    HABIT(a_session_of_its_own),
    HABIT(undumpable),
    HABIT(other_names_and_slack),
    HABIT(no_sockets_any_more),
    HABIT(no_waiting_for_descriptors),
    HABIT(no_looking_at_descriptors),
    HABIT(no_threads_any_more),
    {0},
};
