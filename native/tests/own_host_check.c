/* explicit/own_host.c, on made-up files.
 *
 *     own_host_check ROOT     prints how many bytes there are to take */
#include <inttypes.h>
#include <stdio.h>

#include "explicit/own_host.h"

int main(int argc, char **argv) {
    if (argc != 2)
        return 2;
    printf("%" PRIu64 "\n", own_host_room(argv[1]));
    return 0;
}
