/* Holds the namespaces of a pod: sleeps, reaps orphans, and ends on a signal. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int number) {
    (void)number;
    _exit(0);
}

static void bury(int number) {
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
}

int main(void) {
    signal(SIGTERM, end);
    signal(SIGINT, end);
    signal(SIGCHLD, bury);
    for (;;)
        pause();
}
