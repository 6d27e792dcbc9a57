/* The environment of a program, as the interposer reads it: lines of NAME=value.
 *
 * config.c reads it once in the life of a process. Here that one step is called again and again, so
 * the file is included. */
#include "process/config.c"

#include "targets.h"

static void set_all(char *text) {
    clearenv();
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char *equals = strchr(line, '=');
        /* A log file would be made on the disk, with any name from the input. */
        if (!equals || equals == line || strncmp(line, ENVIRONMENT_LOG "_FILE", 16) == 0)
            continue;
        *equals = '\0';
        setenv(line, equals + 1, 1);
    }
}

static void check(const struct config *config) {
    FUZZ_PROMISE(config->limits.compute_percent <= 100);
    FUZZ_PROMISE(config->socket_count <= CONFIG_SOCKETS_MAX);
    FUZZ_PROMISE(config->allocation <= ALLOCATION_AUTO);
    FUZZ_PROMISE(config->silence_ns <= UINT64_C(1000000) * 1000000000);
    /* A limit that is named holds, or the GPU is not used at all. */
    if (variable_get(ENVIRONMENT_GPU_MEMORY_LIMIT))
        FUZZ_PROMISE(config->limits.memory_limit || config->limits.is_wrong);
    if (variable_get(ENVIRONMENT_GPU_CORE_LIMIT))
        FUZZ_PROMISE(config->limits.compute_percent || config->limits.is_wrong);
    for (int i = 0; i < config->socket_count; i++) {
        const struct sockaddr_un *address = &config->sockets[i];
        FUZZ_PROMISE(memchr(address->sun_path, '\0', sizeof address->sun_path));
    }
}

void fuzz_environment(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    set_all(text);
    memset(&state.values, 0, sizeof state.values);
    read_environment();
    check(&state.values);
    free(text);
}
