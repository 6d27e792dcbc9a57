/* Physical memory for chunks: the driver's calls, and nothing else. Nothing here waits for the
 * GPU's work: the caller does, before it takes memory away. */
#ifndef NVSHARE_EXPLICIT_BACKING_H
#define NVSHARE_EXPLICIT_BACKING_H

#include "lookup/driver.h"
#include "region.h"

/* Addresses in whole pages, with nothing mapped. */
CUresult backing_reserve(uint64_t bytes, uint64_t *address);
void backing_unreserve(uint64_t address, uint64_t bytes);

/* Creates physical memory on a GPU for a chunk, and maps it at all of the chunk's addresses. All of
 * it or nothing. A chunk whose memory could not be taken away keeps that memory and its
 * contents. */
CUresult backing_give(struct chunk *chunk, CUdevice gpu);

/* Takes it away again. Its contents are lost. On failure the chunk still has its memory, but it is
 * unknown where it is mapped: it may not be used before backing_give has succeeded. */
CUresult backing_take(struct chunk *chunk);

/* Maps the resident chunks of a mapping's region, unmaps them, or sets the rights that the mapping
 * has now. All of them or none. */
CUresult backing_map(const struct mapping *mapping);
CUresult backing_unmap(const struct mapping *mapping);
CUresult backing_set_access(const struct mapping *mapping);

/* Where a GPU can read and write all of a resident chunk: an address of the program's, or 0. */
uint64_t backing_address(const struct chunk *chunk, CUdevice gpu);

/* Maps it at an address of ours, for as long as a copy takes. */
CUresult backing_open_window(const struct chunk *chunk, CUdevice gpu, uint64_t *address);
void backing_close_window(const struct chunk *chunk, uint64_t address);

#endif
