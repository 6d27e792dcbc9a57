/* Calls functions of native/common, as the command line says, so that a test can check the results.
 *
 *     common_check quantity TEXT...   prints the bytes of each, or the errno
 *     common_check size BYTES...      prints each as people read it
 *     common_check text TEXT          fills a field of 8 bytes and prints it
 *     common_check take               takes fields from payloads of every length around theirs
 *     common_check check              reads "TYPE BYTES" line by line, the bytes in hexadecimal, and judges each
 *     common_check log TEXT           writes TEXT at every level, twice with log_warn_once
 *     common_check log-reused FILE    writes a warning after FILE has become descriptor 2
 *     common_check log-threads N      writes N lines from each of 4 threads and of a forked child */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "environment.h"
#include "frame.h"
#include "log.h"
#include "quantity.h"

static int size(char **numbers) {
    char text[QUANTITY_TEXT];
    for (; *numbers; numbers++) {
        quantity_show(strtoull(*numbers, NULL, 10), text);
        puts(text);
    }
    return 0;
}

static int quantity(char **texts) {
    for (; *texts; texts++) {
        uint64_t bytes = 7;
        int result = quantity_parse(*texts, &bytes);
        if (result == 0)
            printf("%llu\n", (unsigned long long)bytes);
        else
            printf("%s%s\n", result == -EINVAL ? "EINVAL" : "ERANGE", bytes == 7 ? "" : " touched");
    }
    return 0;
}

static int text(const char *words) {
    char *field = malloc(8);
    frame_set_text(field, 8, words);
    for (int i = 0; i < 8; i++)
        printf("%02x", (unsigned char)field[i]);
    putchar('\n');
    free(field);
    return 0;
}

static int take(void) {
    for (size_t length = 0; length < 32; length++) {
        char *payload = calloc(1, length ? length : 1);
        struct frame_view view = {.type = FRAME_GRANT, .payload = payload, .length = length};
        struct frame_grant grant = {.turn = 7, .missing = 9};
        int result = frame_take(&view, &grant, sizeof grant);
        int expected = length < offsetof(struct frame_grant, missing) ? -EBADMSG : 0;
        if (result != expected || grant.turn != (result ? 7 : 0) ||
            grant.missing != (result ? 9 : 0))
            return 1;
        free(payload);
    }
    return 0;
}

static int check(void) {
    static char line[3 * FRAME_MAX];
    while (fgets(line, sizeof line, stdin)) {
        char *digits;
        unsigned long type = strtoul(line, &digits, 10);
        size_t length = strspn(++digits, "0123456789abcdef") / 2;
        unsigned char *payload = malloc(length ? length : 1);
        for (size_t i = 0; i < length; i++)
            sscanf(digits + 2 * i, "%2hhx", &payload[i]);
        struct frame_view view = {.type = (uint16_t)type, .payload = payload, .length = length};
        int result = frame_check(&view);
        puts(result == 0          ? "good"
             : result == -ERANGE  ? "range"
             : result == -EBADMSG ? "short"
                                  : "?");
        free(payload);
    }
    return 0;
}

static void log_setup(void) {
    log_open(getenv(ENVIRONMENT_LOG), getenv(ENVIRONMENT_LOG_FILE));
}

static int log_levels(const char *words) {
    log_setup();
    errno = EXDEV;
    log_debug("%s", words);
    log_info("%s", words);
    log_warn("%s", words);
    for (int i = 0; i < 2; i++)
        log_warn_once("once %s", words);
    return errno == EXDEV ? 0 : 1;
}

/* Like a program that closes its standard error, and opens something else. */
static int log_reused(const char *path) {
    log_setup();
    close(STDERR_FILENO);
    log_warn("to nobody");
    if (open(path, O_WRONLY | O_CREAT, 0600) != STDERR_FILENO)
        return 1;
    log_warn("to nobody");
    return 0;
}

static int count;

static void *write_lines(void *name) {
    for (int i = 0; i < count; i++)
        log_info("%s %d %0200d", (const char *)name, i, 0);
    return NULL;
}

static int log_threads(void) {
    static char *const names[] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    log_setup();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, write_lines, names[i]);
    pid_t child = fork();
    if (child == 0) {
        write_lines("child");
        _exit(0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    int status;
    waitpid(child, &status, 0);
    return status;
}

int main(int argc, char **argv) {
    const char *verb = argc > 1 ? argv[1] : "";
    if (strcmp(verb, "quantity") == 0)
        return quantity(argv + 2);
    if (strcmp(verb, "size") == 0)
        return size(argv + 2);
    if (strcmp(verb, "text") == 0 && argc == 3)
        return text(argv[2]);
    if (strcmp(verb, "take") == 0)
        return take();
    if (strcmp(verb, "check") == 0)
        return check();
    if (strcmp(verb, "log") == 0 && argc == 3)
        return log_levels(argv[2]);
    if (strcmp(verb, "log-reused") == 0 && argc == 3)
        return log_reused(argv[2]);
    if (strcmp(verb, "log-threads") == 0 && argc == 3) {
        count = atoi(argv[2]);
        return log_threads();
    }
    return 2;
}
