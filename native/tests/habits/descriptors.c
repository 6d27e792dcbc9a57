/* Descriptors: programs close what they have not opened, and use numbers as they like. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "habits.h"

enum { FIRST = 3, NUMBERS = 1024 };

/* The kernel refuses while another thread is getting this number (dup(2), EBUSY): any library's
 * may. */
static bool put(int file, int number) {
    while (dup2(file, number) != number)
        if (errno != EBUSY)
            return false;
    return true;
}

static void close_all_in_a_loop(void) {
    for (int i = FIRST; i < 65536; i++)
        close(i);
}

static void close_range_again_and_again(void) {
    for (int i = 0; i < 50; i++) {
        MUST(syscall(SYS_close_range, FIRST, ~0u, 0) == 0);
        usleep(2000);
    }
}

static void close_standard_ones(void) {
    close(STDIN_FILENO);
    close(STDERR_FILENO);
    note(" %d", open("/dev/null", O_RDONLY));
    note(" %d", open("/dev/null", O_WRONLY));
}

static void become_a_daemon_in_place(void) {
    int out = dup(STDOUT_FILENO);
    for (int i = 0; i < NUMBERS; i++)
        if (i != out)
            close(i);
    note(" %d", open("/dev/null", O_RDWR));
    MUST(put(out, STDOUT_FILENO) && put(0, STDERR_FILENO));
}

static void low_numbers_are_free(void) {
    for (int i = 0; i < 20; i++)
        note(" %d", open("/dev/zero", O_RDONLY));
}

static void put_null_everywhere(void) {
    int null = open("/dev/null", O_RDWR);
    for (int i = FIRST; i < NUMBERS; i++)
        MUST(put(null, i));
}

static void move_null_about(void) {
    int null = open("/dev/null", O_RDWR);
    for (int round = 0; round < 50; round++) {
        for (int i = 500; i < 540; i++)
            MUST(put(null, i));
        usleep(1000);
        for (int i = 500; i < 540; i++)
            close(i);
    }
}

/* Whoever writes to a number that is not his own, or reads from it, is seen. */
static void put_sockets_everywhere(void) {
    enum { SOCKETS = 80 };
    int both[SOCKETS][2];
    char got[8];
    for (int i = 0; i < SOCKETS; i++)
        MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both[i]) == 0);
    for (int i = 0; i < SOCKETS; i++) {
        MUST(put(both[i][0], 480 + i));
        MUST(write(both[i][1], "?", 1) == 1);
    }
    for (int i = 0; i < 20; i++) {
        work();
        usleep(2000);
    }
    for (int i = 0; i < SOCKETS; i++) {
        MUST(read(both[i][1], got, sizeof got) == -1 && errno == EAGAIN);
        MUST(read(480 + i, got, sizeof got) == 1 && *got == '?');
    }
}

static void put_files_everywhere(void) {
    enum { FILES = 80 };
    char got[8];
    for (int i = 0; i < FILES; i++) {
        char path[] = "/tmp/nvshare-habit-XXXXXX";
        int file = mkstemp(path);
        MUST(file >= 0 && unlink(path) == 0 && write(file, "mine", 4) == 4);
        MUST(put(file, 480 + i));
        close(file);
    }
    for (int i = 0; i < 20; i++) {
        work();
        usleep(2000);
    }
    for (int i = 0; i < FILES; i++)
        MUST(lseek(480 + i, 0, SEEK_CUR) == 4 && pread(480 + i, got, sizeof got, 0) == 4);
}

static void use_them_all_up(void) {
    int last = -1, count = 0;
    for (int next; (next = open("/dev/null", O_RDONLY)) >= 0; last = next)
        count++;
    work();
    MUST(errno == EMFILE && count > 100);
    MUST(syscall(SYS_close_range, FIRST, last, 0) == 0);
}

static void have_a_table_of_its_own(void) {
    MUST(unshare(CLONE_FILES) == 0);
    MUST(syscall(SYS_close_range, FIRST, ~0u, 0) == 0);
}

static void close_range_and_unshare(void) {
    MUST(syscall(SYS_close_range, FIRST, ~0u, 2 /* CLOSE_RANGE_UNSHARE */) == 0);
}

/* Its end is there only when all others have closed theirs. */
static void wait_for_the_end_of_a_pipe(void) {
    int ends[2];
    char got;
    MUST(pipe(ends) == 0);
    work();
    close(ends[1]);
    MUST(read(ends[0], &got, 1) == 0);
}

const struct habit of_descriptors[] = {
    HABIT(close_all_in_a_loop),
    HABIT(close_range_again_and_again),
    HABIT(close_standard_ones),
    HABIT(become_a_daemon_in_place),
    HABIT(low_numbers_are_free),
    HABIT(put_null_everywhere),
    HABIT(move_null_about),
    HABIT(put_sockets_everywhere),
    HABIT(put_files_everywhere),
    HABIT(use_them_all_up),
    HABIT(have_a_table_of_its_own),
    HABIT(close_range_and_unshare),
    HABIT(wait_for_the_end_of_a_pipe),
    {0},
};
