/* User objects: something of the program's that lives as long as a graph needs it. */
#ifndef NVSHARE_EMULATOR_USER_OBJECT_H
#define NVSHARE_EMULATOR_USER_OBJECT_H

#include "graph.h"

/* A graph's references to one object. */
struct user_reference {
    CUuserObject object;
    unsigned count;
    struct user_reference *next;
};

/* Gives a graph references like another's; false when memory is out. */
bool user_references_copy(const struct CUgraph_st *from, CUgraph to);

/* Gives all references of a graph back. Whoever gives the last one runs the object's destructor, so
 * no lock may be held. */
void user_references_drop(CUgraph graph);

#endif
