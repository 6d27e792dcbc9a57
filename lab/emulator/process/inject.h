/* Faults that somebody has asked for, to see what a program makes of them.
 *
 * NVSHARE_EMULATOR_FAIL is a list like "create/3=2,map@5=999,unmap+7=1": every third cuMemCreate fails with
 * CUresult 2, the fifth cuMemMap, and only that, with 999, and the seventh cuMemUnmap and all after it with 1.
 * NVSHARE_EMULATOR_STEAL is "release/3" or "release@3": what the third release gives back is taken by somebody else
 * before anybody can have it. */
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

/* Reads the environment. False if something there is not understood, which stderr tells. */
bool inject_read(void);

/* Counts a call, and returns the error it is to fail with. */
CUresult inject(enum injected call);

/* How many have failed so, or were robbed. */
uint64_t inject_count(void);

#endif
