/* Recorded calls, as text: the name of a function and the bytes of its arguments. */
#ifndef VICTIMS_NOTES_H
#define VICTIMS_NOTES_H

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { NOTE_MAX = 4096 };

struct note {
    char text[NOTE_MAX];
    size_t length;
};

static inline void note_begin(struct note *note, const char *name) {
    note->length = (size_t)snprintf(note->text, NOTE_MAX, "%s", name);
}

static inline void note_bytes(struct note *note, const void *bytes, size_t size) {
    const unsigned char *byte = bytes;
    note->text[note->length++] = ' ';
    for (size_t i = 0; i < size; i++)
        note->length += (size_t)sprintf(note->text + note->length, "%02x", byte[i]);
}

#endif
