/* User objects: objects of the program that live as long as a graph needs them. */
#ifndef NVSHARE_EMULATOR_USER_OBJECT_H
#define NVSHARE_EMULATOR_USER_OBJECT_H

#include "graph.h"

/* A graph's references to one object. */
struct user_reference {
    CUuserObject object;
    unsigned count;
    struct user_reference *next;
};

/* Gives a graph the same references as another; false if memory runs out. */
bool user_references_copy(const struct CUgraph_st *from, CUgraph to);

/* Drops all references of a graph. Dropping an object's last reference runs its destructor, so the
 * caller may hold no lock. */
void user_references_drop(CUgraph graph);

#endif
