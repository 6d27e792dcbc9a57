/* Text for a caller's buffer. */
#ifndef NVSHARE_EMULATOR_NVML_TEXT_H
#define NVSHARE_EMULATOR_NVML_TEXT_H

#include <nvml.h>
#include <string.h>

/* All of it with its NUL, or nothing, as NVML promises. */
static inline nvmlReturn_t give_text(char *to, unsigned int bytes, const char *text) {
    size_t needed = strlen(text) + 1;
    if (needed > bytes)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(to, text, needed);
    return NVML_SUCCESS;
}

#endif
