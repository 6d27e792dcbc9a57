/* The table behind cuGetProcAddress, generated from the headers (native/headers/pairing.py). */
#ifndef NVSHARE_EMULATOR_PROC_TABLE_H
#define NVSHARE_EMULATOR_PROC_TABLE_H

#include <stddef.h>

typedef void (*emulator_entry)(void);

struct proc_entry {
    const char *name;          /* without version or flavour: cuMemcpyHtoD */
    int version;               /* the CUDA release that brought this revision: 3020 */
    emulator_entry symbol;     /* cuMemcpyHtoD_v2 */
    int per_thread_version;    /* the release that brought its other flavour: 7000 */
    emulator_entry per_thread; /* cuMemcpyHtoD_v2_ptds, or NULL */
};

/* Sorted by name, then version. */
extern const struct proc_entry emulator_proc_table[];
extern const size_t emulator_proc_table_size;

#endif
