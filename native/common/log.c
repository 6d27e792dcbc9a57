#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "descriptor.h"
#include "old_calls.h"

static _Atomic int lowest = LOG_LEVEL_WARN;
static _Atomic int output = STDERR_FILENO;

/* Standard error as it was when the library was loaded. */
static struct stat stderr_at_start;

__attribute__((constructor)) static void remember_stderr(void) {
    int before = errno;
    old_fstat(STDERR_FILENO, &stderr_at_start);
    errno = before;
}

/* A program may have closed its standard error, and another of its files may have the number since.
 * But a terminal or a pipe in its place is meant for standard error. */
static bool is_stderr(void) {
    struct stat now;
    if (old_fstat(STDERR_FILENO, &now) < 0)
        return false;
    bool is_the_same = now.st_dev == stderr_at_start.st_dev && now.st_ino == stderr_at_start.st_ino;
    return is_the_same || S_ISCHR(now.st_mode) || S_ISFIFO(now.st_mode);
}

static bool is_ours_or_stderr(int descriptor) {
    return descriptor == STDERR_FILENO ? is_stderr() : descriptor_is_kept(descriptor);
}

/* A full pipe would make the program wait, and one without a reader would end it. */
static bool can_take_a_line(int descriptor) {
    struct pollfd set = {.fd = descriptor, .events = POLLOUT};
    const struct timespec now = {0};
    return descriptors_await(&set, 1, &now) == 1 && set.revents == POLLOUT;
}

static const char *const level_names[] = {"debug", "info", "warn"};

static int find_level(const char *name) {
    for (int i = 0; i < 3; i++)
        if (strcmp(level_names[i], name) == 0)
            return i;
    return -EINVAL;
}

static bool is_set(const char *value) {
    return value && *value;
}

/* A line must not end up in one of the program's files. */
static int open_file(const char *path) {
    int low = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    int kept = low < 0 ? -1 : descriptor_keep(low);
    return low < 0 ? -errno : kept < 0 ? -EMFILE : kept;
}

void log_open(const char *level, const char *file) {
    int before = errno;
    int found = is_set(level) ? find_level(level) : LOG_LEVEL_WARN;
    if (is_set(file)) {
        int descriptor = open_file(file);
        if (descriptor < 0)
            log_warn("the log file %s cannot be opened: %s", file, strerror(-descriptor));
        else
            atomic_store(&output, descriptor);
    }
    if (found < 0)
        log_warn("NVSHARE_LOG is \"%.32s\", but should be debug, info or warn: warn is used",
                 level);
    else
        atomic_store(&lowest, found);
    errno = before;
}

bool log_enabled(enum log_level level) {
    if (level == LOG_LEVEL_WARN)
        return true;
    return (int)level >= atomic_load_explicit(&lowest, memory_order_relaxed) &&
           atomic_load_explicit(&output, memory_order_relaxed) != STDERR_FILENO;
}

void log_line(enum log_level level, const char *format, ...) {
    if (!log_enabled(level))
        return;
    int before = errno;
    char line[LOG_LINE_MAX];
    const char *mark = level == LOG_LEVEL_WARN ? "warning: " : "";
    int descriptor = atomic_load(&output);
    char time[32] = "";
    if (descriptor != STDERR_FILENO) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        snprintf(time, sizeof time, " %lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
    }
    int length = snprintf(line, sizeof line, "nvshare[%d]%s: %s", (int)getpid(), time, mark);
    va_list arguments;
    va_start(arguments, format);
    int more = vsnprintf(line + length, sizeof line - (size_t)length, format, arguments);
    va_end(arguments);
    if (more > 0)
        length += more;
    /* In a truncated line, the last byte makes way for the newline. */
    if (length > LOG_LINE_MAX - 1)
        length = LOG_LINE_MAX - 1;
    line[length++] = '\n';
    int cancel_before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_before);
    /* A failure here cannot be reported. */
    if (is_ours_or_stderr(descriptor) && can_take_a_line(descriptor)) {
        ssize_t written = write(descriptor, line, (size_t)length);
        (void)written;
    }
    pthread_setcancelstate(cancel_before, &cancel_before);
    errno = before;
}
