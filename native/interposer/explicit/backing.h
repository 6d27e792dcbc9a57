/* Physical memory for chunks: the driver's calls, and nothing else. Nobody here waits for the GPU's work: that is for
 * whoever takes memory away to do. */
#ifndef NVSHARE_EXPLICIT_BACKING_H
#define NVSHARE_EXPLICIT_BACKING_H

#include "lookup/driver.h"
#include "region.h"

/* Addresses in whole pages, and nothing behind them. */
CUresult backing_reserve(uint64_t bytes, uint64_t *address);
void backing_unreserve(uint64_t address, uint64_t bytes);

/* Physical memory on a GPU for a chunk, at all addresses where it is mapped. All of it or nothing. A chunk that has
 * some already, because it could not be taken away, keeps that, with what is in it. */
CUresult backing_give(struct chunk *chunk, CUdevice gpu);

/* Takes it away again. What was in it is lost. If it fails, the chunk has its memory still, but nobody knows where it
 * is mapped: it may not be used before backing_give has succeeded. */
CUresult backing_take(struct chunk *chunk);

/* Maps those chunks of a mapping's region that are there, or gives them the rights that it has by now. All of them or
 * none. */
CUresult backing_map(const struct mapping *mapping);
CUresult backing_unmap(const struct mapping *mapping);
CUresult backing_set_access(const struct mapping *mapping);

/* Where a GPU can read and write all of a chunk that is there: an address of the program's, or 0. */
uint64_t backing_address(const struct chunk *chunk, CUdevice gpu);

/* Or at an address of ours, for as long as a copy takes. */
CUresult backing_open_window(const struct chunk *chunk, CUdevice gpu, uint64_t *address);
void backing_close_window(const struct chunk *chunk, uint64_t address);

#endif
