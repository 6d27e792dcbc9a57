/* Faults on request, to test how a program handles them.
 *
 * NVSHARE_EMULATOR_FAIL is a list like "create/3=2,map@5=999,unmap+7=1": every third cuMemCreate
 * fails with CUresult 2, only the fifth cuMemMap with 999, and the seventh cuMemUnmap and all after
 * it with 1. NVSHARE_EMULATOR_STEAL is "release/3" or "release@3": the memory of every third
 * release, or of the third only, is taken by an outsider before any program can have it. */
#ifndef NVSHARE_EMULATOR_INJECT_H
#define NVSHARE_EMULATOR_INJECT_H

#include "driver.h"

enum injected {
    INJECT_CREATE,
    INJECT_MAP,
    INJECT_ACCESS,
    INJECT_UNMAP,
    INJECT_RELEASE,
    INJECT_RESERVE,
    INJECT_UNRESERVE, /* cuMemAddressFree */
    INJECT_REGISTER,  /* cuMemHostRegister, cuMemHostAlloc */
    INJECT_STEAL,     /* a release whose memory is taken */
    INJECTED
};

/* Reads the environment. On a syntax error it prints a message to stderr and returns false. */
bool inject_read(void);

/* Counts a call, and returns the error that it must fail with. */
CUresult inject(enum injected call);

/* The number of calls that were made to fail, or whose memory was taken. */
uint64_t inject_count(void);

#endif
