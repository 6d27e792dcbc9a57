#include "config.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "environment.h"
#include "frames.h"
#include "log.h"
#include "variables.h"

static struct {
    pthread_once_t once;
    struct config values;
} state = {.once = PTHREAD_ONCE_INIT};

static enum allocation get_allocation(void) {
    static const struct {
        const char *name;
        enum allocation meaning;
    } known[] = {{"managed", ALLOCATION_MANAGED},
                 {"explicit", ALLOCATION_EXPLICIT},
                 {"native", ALLOCATION_NATIVE},
                 {"auto", ALLOCATION_AUTO}};
    const char *value = variable_get(ENVIRONMENT_ALLOCATION);
    for (size_t i = 0; value && i < sizeof known / sizeof *known; i++)
        if (strcmp(value, known[i].name) == 0)
            return known[i].meaning;
    if (value)
        variable_complain(ENVIRONMENT_ALLOCATION, value, "managed, explicit, native or auto");
    return ALLOCATION_OPEN;
}

/* nvshare run notes which variables it has set: a value that was changed since is not its own. */
static bool is_limit_of_run(void) {
    const char *value = variable_get(ENVIRONMENT_GPU_MEMORY_LIMIT);
    const char *told = variable_get(ENVIRONMENT_RUN_MEMORY_LIMIT);
    return value && told && strcmp(value, told) == 0;
}

static bool is_patient(void) {
    const char *value = variable_get(ENVIRONMENT_WAIT_NOTICE);
    if (value && strcmp(value, "0") != 0 && strcmp(value, "1") != 0)
        variable_complain(ENVIRONMENT_WAIT_NOTICE, value, "0 or 1");
    return value && strcmp(value, "0") == 0;
}

static uint64_t get_seconds(const char *name, const char *usual) {
    const char *value = variable_get(name);
    char *end = NULL;
    double seconds = value ? strtod(value, &end) : 0;
    if (value && !*end && seconds >= 0 && seconds <= 1e6)
        return (uint64_t)(seconds * 1e9);
    if (value)
        variable_complain(name, value, "a number of seconds");
    return (uint64_t)(strtod(usual, NULL) * 1e9);
}

static void get_group(uint8_t group[16]) {
    const char *value = variable_get(ENVIRONMENT_GROUP);
    uint8_t bytes[16];
    int end = 0;
    for (int i = 0; value && i < 16; i++)
        if (sscanf(value + 2 * i, "%2hhx%n", &bytes[i], &end) != 1 || end != 2)
            value = NULL;
    if (value && value[32] == '\0')
        memcpy(group, bytes, sizeof bytes);
    else if (variable_get(ENVIRONMENT_GROUP))
        variable_complain(ENVIRONMENT_GROUP, variable_get(ENVIRONMENT_GROUP),
                          "32 hexadecimal digits");
}

static void get_daemon_user(struct config *config) {
    const char *value = variable_get(ENVIRONMENT_DAEMON_UID);
    char *end = NULL;
    unsigned long user = value ? strtoul(value, &end, 10) : 0;
    config->names_daemon = value && *value >= '0' && *value <= '9' && !*end && user < UINT32_MAX;
    config->daemon_user = config->names_daemon ? (uint32_t)user : 0;
    if (value && !config->names_daemon)
        variable_complain(ENVIRONMENT_DAEMON_UID, value, "the numeric id of a user");
}

__attribute__((format(printf, 2, 3))) static void add_socket(struct config *config,
                                                             const char *format, ...) {
    struct sockaddr_un *address = &config->sockets[config->socket_count];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(address->sun_path, sizeof address->sun_path, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof address->sun_path) {
        log_warn("the path of the daemon's socket folder is too long: it is not used");
        return;
    }
    address->sun_family = AF_UNIX;
    config->socket_count++;
}

/* As in src/nvshare/launch/place.py; a test compares the two. */
static void get_sockets(struct config *config) {
    const char *given = variable_get(ENVIRONMENT_SOCKET_DIR),
               *node = variable_get(ENVIRONMENT_EMULATOR_NODE);
    const char *runtime = variable_get("XDG_RUNTIME_DIR");
    unsigned user = (unsigned)getuid();
    if (given)
        add_socket(config, "%s/" FRAME_SOCKET_NAME, given);
    else if (node) /* an emulated node counts as a machine, and has its own daemon */
        add_socket(config, "%s/daemon/" FRAME_SOCKET_NAME, node);
    if (given || node)
        return;
    add_socket(config, FRAME_MACHINE_FOLDER "/" FRAME_SOCKET_NAME);
    if (user != 0 && runtime)
        add_socket(config, "%s/nvshare/" FRAME_SOCKET_NAME, runtime);
    else if (user != 0)
        add_socket(config, "/tmp/nvshare-%u/" FRAME_SOCKET_NAME, user);
}

static void read_environment(void) {
    log_open(getenv(ENVIRONMENT_LOG), getenv(ENVIRONMENT_LOG_FILE));
    struct config *config = &state.values;
    config->disable = variable_flag(ENVIRONMENT_DISABLE);
    config->require = variable_flag(ENVIRONMENT_REQUIRE);
    config->allocation = get_allocation();
    config->oversubscribe = variable_flag(ENVIRONMENT_OVERSUBSCRIBE);
    limits_read(&config->limits);
    config->is_limit_of_run = is_limit_of_run();
    config->is_patient = is_patient();
    config->silence_ns = get_seconds(ENVIRONMENT_SILENCE, DEFAULT_SILENCE);
    config->restart_ns = get_seconds(ENVIRONMENT_RESTART_WAIT, DEFAULT_RESTART_WAIT);
    get_group(config->group);
    get_daemon_user(config);
    get_sockets(config);
}

const struct config *config(void) {
    pthread_once(&state.once, read_environment);
    return &state.values;
}
