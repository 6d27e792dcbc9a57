/* The profiler switches of the driver. The vendor declares them in a header of its own
 * (cudaProfiler.h), in a package that nothing else here needs; programs link to them all the same.
 * The generators read this file as they read the vendor's. */
#ifndef NVSHARE_PROFILER_H
#define NVSHARE_PROFILER_H

#include <cuda.h>

#pragma GCC visibility push(default)

typedef enum CUoutput_mode_enum {
    CU_OUT_KEY_VALUE_PAIR = 0,
    CU_OUT_CSV = 1,
} CUoutput_mode;

CUresult cuProfilerInitialize(const char *configFile, const char *outputFile, CUoutput_mode mode);
CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

typedef CUresult (*PFN_cuProfilerInitialize_v4000)(const char *configFile, const char *outputFile,
                                                   CUoutput_mode mode);
typedef CUresult (*PFN_cuProfilerStart_v4000)(void);
typedef CUresult (*PFN_cuProfilerStop_v4000)(void);

#pragma GCC visibility pop

#endif
