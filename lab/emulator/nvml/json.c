/* Building a JSON text piece by piece. */
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct json *json, size_t more) {
    size_t needed = json->length + more + 1;
    if (needed <= json->capacity)
        return true;
    size_t capacity = needed * 2;
    char *text = realloc(json->text, capacity);
    if (!text) {
        json->failed = true;
        return false;
    }
    json->text = text;
    json->capacity = capacity;
    return true;
}

static void append(struct json *json, const char *text) {
    size_t bytes = strlen(text);
    if (json->failed || !reserve(json, bytes))
        return;
    memcpy(json->text + json->length, text, bytes + 1);
    json->length += bytes;
}

/* The name of a process can hold any byte. Bytes that are not plain ASCII are written as numbers,
 * so that the text is always valid. */
static void append_quoted(struct json *json, const char *value) {
    append(json, "\"");
    for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
        char piece[8] = {(char)*c, '\0'};
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            snprintf(piece, sizeof piece, "\\u%04x", *c);
        append(json, piece);
    }
    append(json, "\"");
}

static void begin(struct json *json, const char *key) {
    if (json->separate)
        append(json, ",");
    json->separate = true;
    if (!key)
        return;
    append_quoted(json, key);
    append(json, ":");
}

void json_open(struct json *json, const char *key, char bracket) {
    begin(json, key);
    append(json, (char[]){bracket, '\0'});
    json->separate = false;
}

void json_close(struct json *json, char bracket) {
    append(json, (char[]){bracket, '\0'});
    json->separate = true;
}

void json_number(struct json *json, const char *key, uint64_t value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    begin(json, key);
    append(json, digits);
}

/* A fraction without %f, which writes a comma where the host program's locale has one. */
void json_millionths(struct json *json, const char *key, uint64_t value) {
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRIu64 ".%06" PRIu64, value / 1000000, value % 1000000);
    begin(json, key);
    append(json, digits);
}

void json_string(struct json *json, const char *key, const char *value) {
    begin(json, key);
    if (value)
        append_quoted(json, value);
    else
        append(json, "null");
}
