/* Building a JSON text piece by piece. */
#ifndef NVSHARE_EMULATOR_NVML_JSON_H
#define NVSHARE_EMULATOR_NVML_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *text; /* to be freed */
    size_t length, capacity;
    bool failed;   /* no memory: the text is not complete */
    bool separate; /* the next value at this level is not the first */
};

void json_open(struct json *json, const char *key, char bracket);
void json_close(struct json *json, char bracket);

/* Keys are NULL inside a list. A NULL string becomes null. */
void json_number(struct json *json, const char *key, uint64_t value);
void json_millionths(struct json *json, const char *key, uint64_t value);
void json_string(struct json *json, const char *key, const char *value);

#endif
