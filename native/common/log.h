/* nvshare's log in the user's program: it never writes to stdout, and to stderr only warnings.
 *
 *     NVSHARE_LOG=debug|info|warn   what is written (warn)
 *     NVSHARE_LOG_FILE=path         appended to, instead of stderr; without it only warnings appear
 *
 * Standard error belongs to the program. A write to it that would have to wait is left out, and so
 * is one to a file that has its number, or that of the log file, after the program has closed it.
 *
 * A line is one write(2) of at most LOG_LINE_MAX bytes, made without locks or allocation. So it may
 * come from any thread, and from a child right after fork. It begins with "nvshare[pid]: ", in a
 * file with "nvshare[pid] seconds: " by the monotonic clock. errno is left as it was. */
#ifndef NVSHARE_LOG_H
#define NVSHARE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>

#define LOG_LINE_MAX 1024

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN };

/* Decides where lines go. `level` and `file` are the values of the two variables, or NULL. Until it
 * is called, warnings go to stderr. A value that makes no sense is itself a warning. */
void log_open(const char *level, const char *file);

/* Whether a line of this level would be written: for callers whose text is costly to make. */
bool log_enabled(enum log_level level);

__attribute__((format(printf, 2, 3))) void log_line(enum log_level level, const char *format, ...);

#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)
#define log_info(...)  log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_LEVEL_WARN, __VA_ARGS__)

/* A warning that appears once in the life of the process, in whichever thread. */
#define log_warn_once(...)                                                                         \
    do {                                                                                           \
        static _Atomic bool log_said_;                                                             \
        if (!atomic_exchange(&log_said_, true))                                                    \
            log_warn(__VA_ARGS__);                                                                 \
    } while (0)

#endif
