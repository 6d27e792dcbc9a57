/* Signals: programs block them, ignore them, and have them come all the time. */
#include <setjmp.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>

#include "habits.h"

static volatile sig_atomic_t came;

static void count(int number) {
    (void)number;
    came++;
}

static void handle(int number, int flags) {
    struct sigaction action = {.sa_handler = count, .sa_flags = flags};
    MUST(sigaction(number, &action, NULL) == 0);
}

static void block_all(void) {
    sigset_t all;
    sigfillset(&all);
    MUST(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
}

static void ignore_all(void) {
    for (int i = 1; i < 64; i++)
        signal(i, SIG_IGN);
}

static void reset_all(void) {
    for (int i = 1; i < 64; i++)
        signal(i, SIG_DFL);
}

static void alarms(int flags) {
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {0};
    handle(SIGALRM, flags);
    MUST(setitimer(ITIMER_REAL, &often, NULL) == 0);
    for (int i = 0; i < 20; i++)
        work();
    while (came < 20)
        usleep(100);
    MUST(setitimer(ITIMER_REAL, &never, NULL) == 0);
}

static void alarms_that_interrupt(void) {
    alarms(0);
}

static void alarms_on_another_stack(void) {
    static char room[64 << 10];
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    MUST(sigaltstack(&stack, NULL) == 0);
    alarms(SA_ONSTACK | SA_RESTART);
}

static sigjmp_buf before;

static void jump(int number) {
    (void)number;
    siglongjmp(before, 1);
}

static void jump_out_of_a_handler(void) {
    signal(SIGUSR1, jump);
    for (volatile int i = 0; i < 10; i++) {
        if (sigsetjmp(before, 1) == 0)
            raise(SIGUSR1);
        work();
    }
}

/* A signal for the process goes to a thread of the program, and to nobody else. */
static void read_signals(void) {
    sigset_t all;
    struct signalfd_siginfo got;
    sigemptyset(&all);
    sigaddset(&all, SIGUSR2);
    handle(SIGUSR2, 0);
    for (int i = 0; i < 10; i++)
        MUST(kill(getpid(), SIGUSR2) == 0);
    while (!came)
        usleep(100);
    MUST(sigprocmask(SIG_BLOCK, &all, NULL) == 0);
    int file = signalfd(-1, &all, SFD_CLOEXEC);
    MUST(raise(SIGUSR2) == 0 && read(file, &got, sizeof got) == sizeof got);
    note(" %u", got.ssi_signo);
    close(file);
}

static void write_to_a_broken_pipe(void) {
    int ends[2];
    handle(SIGPIPE, 0);
    MUST(pipe(ends) == 0 && close(ends[0]) == 0);
    MUST(write(ends[1], "?", 1) == -1);
    work();
    note(" %d", (int)came);
}

static void timers_of_its_own(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMAX};
    const struct itimerspec often = {{0, 1000000}, {0, 1000000}};
    handle(SIGRTMAX, 0);
    MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    MUST(timer_settime(timer, 0, &often, NULL) == 0);
    for (int i = 0; i < 10; i++)
        work();
    while (came < 20)
        usleep(100);
    MUST(timer_delete(timer) == 0);
}

const struct habit of_signals[] = {
    HABIT(block_all),
    HABIT(ignore_all),
    HABIT(reset_all),
    HABIT(alarms_that_interrupt),
    HABIT(alarms_on_another_stack),
    HABIT(jump_out_of_a_handler),
    HABIT(read_signals),
    HABIT(write_to_a_broken_pipe),
    HABIT(timers_of_its_own),
    {0},
};
