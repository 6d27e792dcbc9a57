/* Breaking an emulated GPU, and repairing it. Private to this project, and no part of NVML.
 *
 * Only NVML shows it: programs on the GPU run on. The effects of a broken GPU on them are not
 * modelled. */
#ifndef NVSHARE_EMULATOR_NVML_FAULTS_H
#define NVSHARE_EMULATOR_NVML_FAULTS_H

#include <nvml.h>

/* The XID of a GPU that has fallen off the bus: NVML calls it lost until it is repaired. */
#define XID_LOST 79

/* Gives a GPU of the node in `folder` an XID; 0 repairs it. `needs_reset`: NVML says that the GPU
 * has to be reset before it is used again. NVML need not be initialised, nor be on that node. */
nvmlReturn_t nvshareEmulatorFault(const char *folder, unsigned int gpu, unsigned int xid,
                                  int needs_reset);

/* Takes so much memory of a GPU, or as much as is free, as if a process outside the node held it. 0
 * gives it back. Programs do notice this. */
nvmlReturn_t nvshareEmulatorSteal(const char *folder, unsigned int gpu, unsigned long long bytes);

/* Makes NVML answer NVML_ERROR_NOT_SUPPORTED to every query of a GPU; 0: not any more. */
nvmlReturn_t nvshareEmulatorRefuse(const char *folder, unsigned int gpu, int refuses);

#endif
