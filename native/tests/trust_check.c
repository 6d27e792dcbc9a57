/* Judges places as trust.c does, for a test that compares it with Python's rule.
 *
 *   trust_check sockets            where a program with this environment looks for a daemon
 *   trust_check verdicts           for each line of standard input: one verdict
 *
 * A line is: self, named (-1: nobody), is_machine, mode and owner of the folder, of the socket, and the peer. */
#include <stdio.h>
#include <string.h>

#include "process/config.h"
#include "session/trust.h"

static int print_sockets(void) {
    for (int i = 0; i < config()->socket_count; i++)
        printf("%s\n", config()->sockets[i].sun_path);
    return 0;
}

static int print_verdicts(void) {
    long long named;
    unsigned machine, peer;
    struct trust_in in;
    struct trust_file folder, socket;
    while (scanf("%u %lld %u %u %u %u %u %u", &in.self, &named, &machine, &folder.mode,
                 &folder.owner, &socket.mode, &socket.owner, &peer) == 8) {
        in.has_named = named >= 0;
        in.named = in.has_named ? (uint32_t)named : 0;
        in.is_machine = machine;
        enum trust verdict = trust_place(&in, folder, socket);
        if (verdict == TRUST_YES)
            verdict = trust_peer(&in, folder, peer);
        printf("%d\n", verdict);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "sockets") == 0)
        return print_sockets();
    if (argc == 2 && strcmp(argv[1], "verdicts") == 0)
        return print_verdicts();
    return 2;
}
