/* What the process has and has to give back, for whoever looks for leaks. */
#include "books.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "inject.h"

void books_add(enum book book) {
    __atomic_add_fetch(&driver_slot()->books[book], 1, __ATOMIC_RELAXED);
}

void books_remove(enum book book) {
    __atomic_sub_fetch(&driver_slot()->books[book], 1, __ATOMIC_RELAXED);
}

/* In one piece: several processes may end at once. */
__attribute__((destructor)) static void close_books(void) {
    const char *path = getenv("NVSHARE_EMULATOR_BOOKS");
    if (!driver || !path)
        return;
    const uint32_t *books = driver_slot()->books;
    char line[256];
    int length =
        snprintf(line, sizeof line,
                 "{\"pid\": %d, \"handles\": %u, \"mappings\": %u, \"reservations\": %u, "
                 "\"registrations\": %u, \"host_allocations\": %u, \"injected\": %llu}\n",
                 (int)getpid(), books[BOOK_HANDLES], books[BOOK_MAPPINGS], books[BOOK_RESERVATIONS],
                 books[BOOK_REGISTRATIONS], books[BOOK_HOST], (unsigned long long)inject_count());
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || write(file, line, (size_t)length) != length)
        fprintf(stderr, "nvshare emulator: the books cannot be written to %s\n", path);
    if (file >= 0)
        close(file);
}
