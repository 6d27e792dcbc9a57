#include "stock.h"

#include <stdbool.h>

/* A block may be larger than the allocation by this part: more would be wasted. */
enum { SLACK = 8 };

/* How many moments are queried in one search: each is a call to the driver. The earliest freed are
 * queried first. */
enum { QUESTIONS = 8 };

static unsigned size_of(uint64_t bytes) {
    return 63 - (unsigned)__builtin_clzll(bytes);
}

void stock_add(struct stock *stock, struct block *block) {
    unsigned size = size_of(block->bytes);
    block->next = NULL;
    if (stock->first[size])
        stock->last[size]->next = block;
    else
        stock->first[size] = block;
    stock->last[size] = block;
    stock->bytes += block->bytes;
}

/* Takes out the block behind another one, or the first. */
static struct block *take_behind(struct stock *stock, unsigned size, struct block *before) {
    struct block **at = before ? &before->next : &stock->first[size];
    struct block *block = *at;
    *at = block->next;
    if (stock->last[size] == block)
        stock->last[size] = before;
    stock->bytes -= block->bytes;
    block->next = NULL;
    return block;
}

static bool is_over(struct block *block) {
    if (block->freed && moment_has_passed(block->freed)) {
        moment_drop(block->freed);
        block->freed = NULL;
    }
    return !block->freed;
}

static bool is_usable(struct block *block, uint64_t stream, unsigned *questions) {
    if (!block->freed || (stream && block->freed->stream == stream))
        return true;
    return *questions && (*questions)-- && is_over(block);
}

static struct block *take_of_size(struct stock *stock, unsigned size, uint64_t bytes,
                                  uint64_t stream) {
    unsigned questions = QUESTIONS;
    struct block *before = NULL;
    for (struct block *one = stock->first[size]; one; before = one, one = one->next)
        if (one->bytes >= bytes && one->bytes <= bytes + bytes / SLACK &&
            is_usable(one, stream, &questions))
            return take_behind(stock, size, before);
    return NULL;
}

struct block *stock_take(struct stock *stock, uint64_t bytes, uint64_t stream) {
    unsigned size = size_of(bytes), largest = size_of(bytes + bytes / SLACK);
    struct block *block = take_of_size(stock, size, bytes, stream);
    if (!block && largest != size)
        block = take_of_size(stock, largest, bytes, stream);
    if (block) {
        moment_drop(block->freed);
        block->freed = NULL;
    }
    return block;
}

static void reduce_size(struct stock *stock, unsigned size, uint64_t keep, struct block **list) {
    struct block *before = NULL;
    for (struct block *one = stock->first[size], *next; one && stock->bytes > keep; one = next) {
        next = one->next;
        if (!is_over(one)) {
            before = one;
            continue;
        }
        take_behind(stock, size, before);
        one->next = *list;
        *list = one;
    }
}

/* The largest first. */
struct block *stock_reduce(struct stock *stock, uint64_t keep) {
    struct block *list = NULL;
    for (unsigned size = STOCK_SIZES; size-- > 0 && stock->bytes > keep;)
        reduce_size(stock, size, keep, &list);
    return list;
}
