#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "process/config.h"

/* Not lstat, which old images do not have under this name. */
static int look(struct trust_file *file, const char *path) {
    struct stat found;
    if (syscall(SYS_newfstatat, AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    *file = (struct trust_file){.mode = found.st_mode, .owner = found.st_uid};
    return 0;
}

int place_look(struct place *place, const char *path) {
    char folder[sizeof((struct sockaddr_un *)0)->sun_path];
    const char *end = strrchr(path, '/');
    while (end && end > path + 1 && end[-1] == '/')
        end--;
    if (!end || end == path || (size_t)(end - path) >= sizeof folder)
        return -EINVAL;
    memcpy(folder, path, (size_t)(end - path));
    folder[end - path] = '\0';
    *place = (struct place){.in = {.self = getuid(),
                                   .has_named = config()->names_daemon,
                                   .named = config()->daemon_user,
                                   .is_machine = strcmp(folder, FRAME_MACHINE_FOLDER) == 0}};
    int result = look(&place->folder, folder);
    return result < 0 ? result : look(&place->socket, path);
}

int place_judge_peer(const struct place *place, int socket, enum trust *verdict) {
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return -errno;
    *verdict = trust_peer(&place->in, place->folder, peer.uid);
    return *verdict == TRUST_YES ? 0 : -EPERM;
}
