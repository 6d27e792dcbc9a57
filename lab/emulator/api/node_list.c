/* Lists of graph nodes, in the order in which they were added. */
#include "graph.h"

#include <stdlib.h>

bool node_list_add(struct node_list *list, CUgraphNode node) {
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 4;
        CUgraphNode *items = realloc(list->items, capacity * sizeof *items);
        if (!items)
            return false;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = node;
    return true;
}

bool node_list_add_new(struct node_list *list, CUgraphNode node) {
    return node_list_contains(list, node) || node_list_add(list, node);
}

static size_t find(const struct node_list *list, const struct CUgraphNode_st *node) {
    size_t i = 0;
    while (i < list->count && list->items[i] != node)
        i++;
    return i;
}

bool node_list_contains(const struct node_list *list, const struct CUgraphNode_st *node) {
    return find(list, node) < list->count;
}

bool node_list_remove(struct node_list *list, const struct CUgraphNode_st *node) {
    size_t at = find(list, node);
    if (at == list->count)
        return false;
    list->count--;
    for (; at < list->count; at++)
        list->items[at] = list->items[at + 1];
    return true;
}

void node_list_clear(struct node_list *list) {
    free(list->items);
    *list = (struct node_list){0};
}
