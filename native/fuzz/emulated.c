/* The emulator's input from files and variables: node.conf, and requested faults. */
#include <string.h>
#include <unistd.h>

#include "inject.h"
#include "profile.h"
#include "targets.h"

void fuzz_node(const uint8_t *data, size_t size) {
    static struct gpu_profile gpus[MAX_GPUS];
    struct node_profile node;
    char path[32], why[64] = "";
    int file = fuzz_file(data, size, path);
    int result = profile_read(path, &node, gpus, why, sizeof why);
    FUZZ_PROMISE(result <= 0 && memchr(why, '\0', sizeof why));
    if (result == 0) {
        FUZZ_PROMISE(node.gpu_count >= 1 && node.gpu_count <= MAX_GPUS && node.speed > 0);
        for (uint32_t i = 0; i < node.gpu_count; i++)
            FUZZ_PROMISE(gpus[i].bandwidth && gpus[i].slice_ns && gpus[i].queue_depth);
    } else {
        FUZZ_PROMISE(*why);
    }
    close(file);
}

void fuzz_faults(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    char *second = strchr(text, '\n');
    if (second)
        *second++ = '\0';
    setenv("NVSHARE_EMULATOR_FAIL", text, 1);
    setenv("NVSHARE_EMULATOR_STEAL", second ? second : "", 1);
    if (inject_read())
        for (int i = 0; i < 3 * INJECTED; i++)
            inject((enum injected)(i % INJECTED));
    free(text);
}
