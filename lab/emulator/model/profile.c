/* Reads node.conf, a file of key=value lines. */
#include "profile.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HEADING[] = "nvshare-emulator-node 1";

static const struct {
    const char *key;
    size_t offset;
} NUMBERS[] = {
#define NUMBER(name) {#name, offsetof(struct gpu_profile, name)}
    NUMBER(pci_bus),
    NUMBER(compute_major),
    NUMBER(compute_minor),
    NUMBER(multiprocessors),
    NUMBER(cores_per_multiprocessor),
    NUMBER(clock_khz),
    NUMBER(memory_clock_khz),
    NUMBER(memory_bus_bits),
    NUMBER(l2_bytes),
    NUMBER(shared_per_block_optin),
    NUMBER(shared_per_multiprocessor),
    NUMBER(threads_per_multiprocessor),
    NUMBER(blocks_per_multiprocessor),
    NUMBER(copy_engines),
    NUMBER(memory_bytes),
    NUMBER(usable_bytes),
    NUMBER(context_bytes),
    NUMBER(bandwidth),
    NUMBER(h2d_bandwidth),
    NUMBER(d2h_bandwidth),
    NUMBER(peer_bandwidth),
    NUMBER(duplex_permille),
    NUMBER(pageable_bandwidth),
    NUMBER(fault_bandwidth),
    NUMBER(fault_evict_bandwidth),
    NUMBER(populate_bandwidth),
    NUMBER(host_page_ns),
    NUMBER(host_map_ns),
    NUMBER(host_unmap_ns),
    NUMBER(service_ns),
    NUMBER(evict_ns),
    NUMBER(handles_supported),
    NUMBER(handle_create_ns),
    NUMBER(handle_create_block_ns),
    NUMBER(handle_map_ns),
    NUMBER(handle_access_ns),
    NUMBER(handle_access_block_ns),
    NUMBER(handle_unmap_ns),
    NUMBER(handle_unmap_block_ns),
    NUMBER(handle_release_ns),
    NUMBER(handle_release_block_ns),
    NUMBER(handle_reserve_ns),
    NUMBER(host_register_ns),
    NUMBER(host_lock_block_ns),
    NUMBER(host_unlock_block_ns),
    NUMBER(slice_ns),
    NUMBER(switch_ns),
    NUMBER(kernel_floor_ns),
    NUMBER(launch_ns),
    NUMBER(context_create_ns),
    NUMBER(queue_depth),
    NUMBER(pcie_generation),
    NUMBER(pcie_width),
    NUMBER(power_idle_mw),
    NUMBER(power_limit_mw),
    NUMBER(temperature_idle_c),
    NUMBER(temperature_busy_c),
#undef NUMBER
};
enum { NUMBER_COUNT = sizeof NUMBERS / sizeof NUMBERS[0] };
_Static_assert(NUMBER_COUNT <= 64, "each number has one bit in reading.seen");

struct reading {
    struct node_profile node;
    struct gpu_profile gpus[MAX_GPUS];
    uint64_t seen[MAX_GPUS]; /* one bit per number */
};

static bool copy_text(char *to, size_t bytes, const char *value) {
    if (strlen(value) >= bytes)
        return false;
    strcpy(to, value);
    return true;
}

static bool parse_number(const char *value, uint64_t *number) {
    char *end;
    errno = 0;
    *number = strtoull(value, &end, 10);
    return !errno && !*end && *value >= '0' && *value <= '9'; /* strtoull accepts sign and blanks */
}

static bool read_number(struct reading *r, const char *key, const char *value) {
    uint32_t gpu = r->node.gpu_count - 1;
    for (int i = 0; i < NUMBER_COUNT; i++) {
        uint64_t number;
        if (strcmp(key, NUMBERS[i].key) != 0)
            continue;
        if (!parse_number(value, &number))
            return false;
        memcpy((char *)&r->gpus[gpu] + NUMBERS[i].offset, &number, sizeof number);
        r->seen[gpu] |= (uint64_t)1 << i;
        return true;
    }
    return false;
}

/* In the C locale: the program that loaded the library may have set one with a decimal comma. */
static bool read_speed(const char *value, double *speed) {
    locale_t c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!c_locale)
        return false;
    char *end;
    *speed = strtod_l(value, &end, c_locale);
    freelocale(c_locale);
    return end != value && !*end && *speed > 0 && isfinite(*speed);
}

static bool read_node_key(struct reading *r, const char *key, const char *value) {
    if (strcmp(key, "name") == 0)
        return copy_text(r->node.name, sizeof r->node.name, value);
    if (strcmp(key, "speed") == 0) {
        return read_speed(value, &r->node.speed);
    }
    if (strcmp(key, "data") == 0) {
        r->node.data = strcmp(value, "off") != 0;
        return true;
    }
    return strcmp(key, "host_bytes") == 0 && parse_number(value, &r->node.host_bytes);
}

static bool read_gpu_key(struct reading *r, const char *key, const char *value) {
    struct gpu_profile *gpu = &r->gpus[r->node.gpu_count - 1];
    if (strcmp(key, "name") == 0)
        return copy_text(gpu->name, sizeof gpu->name, value);
    if (strcmp(key, "uuid") == 0)
        return copy_text(gpu->uuid, sizeof gpu->uuid, value);
    return read_number(r, key, value);
}

static bool read_line(struct reading *r, char *line) {
    if (strcmp(line, "[gpu]") == 0)
        return r->node.gpu_count++ < MAX_GPUS;
    char *equals = strchr(line, '=');
    if (!equals)
        return *line == '\0';
    *equals = '\0';
    bool known =
        r->node.gpu_count ? read_gpu_key(r, line, equals + 1) : read_node_key(r, line, equals + 1);
    *equals = '=';
    return known;
}

/* The model divides by these, or would wait forever if they were 0. */
static const char *zero_of(const struct gpu_profile *gpu) {
    const struct {
        const char *key;
        uint64_t value;
    } needed[] = {
        {"bandwidth", gpu->bandwidth},
        {"h2d_bandwidth", gpu->h2d_bandwidth},
        {"d2h_bandwidth", gpu->d2h_bandwidth},
        {"peer_bandwidth", gpu->peer_bandwidth},
        {"duplex_permille", gpu->duplex_permille},
        {"pageable_bandwidth", gpu->pageable_bandwidth},
        {"fault_bandwidth", gpu->fault_bandwidth},
        {"fault_evict_bandwidth", gpu->fault_evict_bandwidth},
        {"populate_bandwidth", gpu->populate_bandwidth},
        {"slice_ns", gpu->slice_ns},
        {"queue_depth", gpu->queue_depth},
    };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (!needed[i].value)
            return needed[i].key;
    return NULL;
}

static int check_complete(const struct reading *r, char *why, size_t why_bytes) {
    if (!r->node.gpu_count || r->node.speed <= 0) {
        snprintf(why, why_bytes, "no [gpu] or no speed in it");
        return -EINVAL;
    }
    for (uint32_t gpu = 0; gpu < r->node.gpu_count; gpu++) {
        for (int i = 0; i < NUMBER_COUNT; i++) {
            if (!(r->seen[gpu] >> i & 1)) {
                snprintf(why, why_bytes, "gpu %u has no %s", gpu, NUMBERS[i].key);
                return -EINVAL;
            }
        }
        const char *zero = zero_of(&r->gpus[gpu]);
        if (zero) {
            snprintf(why, why_bytes, "gpu %u: %s is zero", gpu, zero);
            return -EINVAL;
        }
    }
    return 0;
}

static int read_lines(FILE *file, struct reading *r, char *why, size_t why_bytes) {
    char line[512];
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        line[strcspn(line, "\n")] = '\0';
        bool good = number == 1 ? strcmp(line, HEADING) == 0 : read_line(r, line);
        if (!good) {
            snprintf(why, why_bytes, "line %d is not understood: %.200s", number, line);
            return -EINVAL;
        }
    }
    return check_complete(r, why, why_bytes);
}

int profile_read(const char *path, struct node_profile *node, struct gpu_profile *gpus, char *why,
                 size_t why_bytes) {
    FILE *file = fopen(path, "re");
    if (!file) {
        int error = errno;
        snprintf(why, why_bytes, "%s", strerror(error));
        return -error;
    }
    struct reading *r = calloc(1, sizeof *r);
    int result = r ? read_lines(file, r, why, why_bytes) : -ENOMEM;
    fclose(file);
    if (result == 0) {
        *node = r->node;
        memcpy(gpus, r->gpus, sizeof r->gpus);
    }
    free(r);
    return result;
}
