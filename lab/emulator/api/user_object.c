/* User objects: reference counting. Dropping the last reference calls the program's destructor. */
#include "user_object.h"

#include <limits.h>
#include <stdlib.h>

#define OBJECT_MAGIC 0x55736f31u

struct CUuserObject_st {
    uint32_t magic;
    unsigned references;
    CUhostFn destroy;
    void *data;
};

static bool is_object(CUuserObject object) {
    return object && object->magic == OBJECT_MAGIC;
}

static bool is_count(unsigned count) {
    return count > 0 && count <= INT_MAX;
}

static void retain(CUuserObject object, unsigned count) {
    __atomic_add_fetch(&object->references, count, __ATOMIC_ACQ_REL);
}

static CUresult release(CUuserObject object, unsigned count) {
    unsigned before = __atomic_load_n(&object->references, __ATOMIC_ACQUIRE);
    do {
        REQUIRE(count <= before, CUDA_ERROR_INVALID_VALUE);
    } while (!__atomic_compare_exchange_n(&object->references, &before, before - count, false,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    if (before == count) {
        object->magic = 0;
        object->destroy(object->data);
        free(object);
    }
    return CUDA_SUCCESS;
}

CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                            unsigned int initialRefcount, unsigned int flags) {
    REQUIRE_DRIVER();
    REQUIRE(object_out && destroy && is_count(initialRefcount), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CUDA_ERROR_INVALID_VALUE);
    CUuserObject object = malloc(sizeof *object);
    REQUIRE(object, CUDA_ERROR_OUT_OF_MEMORY);
    *object = (struct CUuserObject_st){OBJECT_MAGIC, initialRefcount, destroy, ptr};
    *object_out = object;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
    REQUIRE_DRIVER();
    REQUIRE(is_object(object) && is_count(count), CUDA_ERROR_INVALID_VALUE);
    retain(object, count);
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
    REQUIRE_DRIVER();
    REQUIRE(is_object(object) && is_count(count), CUDA_ERROR_INVALID_VALUE);
    return release(object, count);
}

static struct user_reference **find(CUgraph graph, CUuserObject object) {
    struct user_reference **at = &graph->objects;
    while (*at && (*at)->object != object)
        at = &(*at)->next;
    return at;
}

/* Notes that a graph has `count` more references, which have been taken already. */
static bool note(CUgraph graph, CUuserObject object, unsigned count) {
    struct user_reference **at = find(graph, object);
    if (!*at) {
        *at = malloc(sizeof **at);
        if (!*at)
            return false;
        **at = (struct user_reference){.object = object};
    }
    (*at)->count += count;
    return true;
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count,
                                 unsigned int flags) {
    REQUIRE_DRIVER();
    REQUIRE(graph_of(graph) && is_object(object) && is_count(count), CUDA_ERROR_INVALID_VALUE);
    REQUIRE((flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(note(graph, object, count), CUDA_ERROR_OUT_OF_MEMORY);
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
        retain(object, count);
    return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
    REQUIRE_DRIVER();
    REQUIRE(graph_of(graph) && is_object(object) && is_count(count), CUDA_ERROR_INVALID_VALUE);
    struct user_reference **at = find(graph, object), *reference = *at;
    REQUIRE(reference && reference->count >= count, CUDA_ERROR_INVALID_VALUE);
    reference->count -= count;
    if (!reference->count) {
        *at = reference->next;
        free(reference);
    }
    return release(object, count);
}

bool user_references_copy(const struct CUgraph_st *from, CUgraph to) {
    for (struct user_reference *r = from->objects; r; r = r->next) {
        if (!note(to, r->object, r->count))
            return false;
        retain(r->object, r->count);
    }
    return true;
}

void user_references_drop(CUgraph graph) {
    while (graph->objects) {
        struct user_reference *reference = graph->objects;
        graph->objects = reference->next;
        release(reference->object, reference->count);
        free(reference);
    }
}
