/* Runs a script on arrays.c and prints its answers, for a test that keeps records itself.
 *
 *     n ADDRESS   an array begins there
 *     f ADDRESS   find the next one: prints its address, or the limit */
#include <inttypes.h>
#include <stdio.h>

#include "process/arrays.h"

enum { LIMIT = 100000 };

int main(void) {
    struct arrays arrays = {0};
    char verb;
    uint64_t address;
    while (scanf(" %c %" SCNu64, &verb, &address) == 2) {
        if (verb == 'n')
            arrays_note(&arrays, address);
        else
            printf("%" PRIu64 "\n", arrays_next(&arrays, address, LIMIT));
    }
    arrays_free(&arrays);
    return 0;
}
