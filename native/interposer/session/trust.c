#include "trust.h"

#include <sys/stat.h>

static bool believes(const struct trust_in *in, struct trust_file folder, uint32_t user) {
    return user == 0 || user == in->self || (in->has_named && user == in->named) ||
           (in->is_machine && user == folder.owner);
}

enum trust trust_place(const struct trust_in *in, struct trust_file folder,
                       struct trust_file socket) {
    if (!S_ISDIR(folder.mode))
        return TRUST_NO_FOLDER;
    if (!believes(in, folder, folder.owner))
        return TRUST_FOLDER_OWNER;
    if (folder.mode & (S_IWGRP | S_IWOTH))
        return TRUST_FOLDER_MODE;
    if (!S_ISSOCK(socket.mode))
        return TRUST_NO_SOCKET;
    return believes(in, folder, socket.owner) ? TRUST_YES : TRUST_SOCKET_OWNER;
}

enum trust trust_peer(const struct trust_in *in, struct trust_file folder, uint32_t peer) {
    return believes(in, folder, peer) ? TRUST_YES : TRUST_PEER;
}

const char *trust_text(enum trust verdict) {
    switch (verdict) {
    case TRUST_YES: return "it is the daemon";
    case TRUST_NO_FOLDER: return "the path of its socket folder is not a folder";
    case TRUST_FOLDER_OWNER: return "the folder of its socket belongs to another user";
    case TRUST_FOLDER_MODE: return "other users can write to the folder of its socket";
    case TRUST_NO_SOCKET: return "the file at the path of its socket is not a socket";
    case TRUST_SOCKET_OWNER: return "its socket belongs to another user";
    case TRUST_PEER: return "another user listens on its socket";
    }
    return "the owner of its socket is not known";
}
