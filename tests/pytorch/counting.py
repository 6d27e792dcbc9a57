"""A driver that counts the calls it gets, and passes them on to the emulated one.

It is made from the list of the emulated driver's functions: one jump per function, which leaves
registers and stack as they are, so that no parameter list is needed. For x86-64.
"""

import subprocess
from pathlib import Path

from nvshare.lab.emulator.libraries import DRIVER, NVML, RUNTIMES, library_folder

# A variable that names the folder in which every process leaves a file.
WHERE = "COUNTS_OF_CALLS"

_SOURCE = r"""
#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT %(count)d
static const char *const names[COUNT] = {%(names)s};
/* Not looked up by name: under an interposer, its own functions would be found. */
static const unsigned long places[COUNT] = {%(places)s};
__attribute__((visibility("hidden"))) unsigned long calls[COUNT];
__attribute__((visibility("hidden"))) void *targets[COUNT];
%(declarations)s
static void *const ours[COUNT] = {%(ours)s};

__asm__(%(jumps)s);

__attribute__((constructor)) static void find(void) {
    struct link_map *driver = dlopen("%(driver)s", RTLD_NOW | RTLD_LOCAL);
    for (int i = 0; i < COUNT; i++)
        targets[i] = (void *)(driver->l_addr + places[i]);
}

/* What is looked up is counted like what is linked. */
static CUresult counted(CUresult result, void **found) {
    for (int i = 0; result == CUDA_SUCCESS && i < COUNT; i++)
        if (*found == targets[i]) {
            *found = ours[i];
            break;
        }
    return result;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
    PFN_cuGetProcAddress_v12000 next;
    memcpy(&next, &targets[%(second)d], sizeof next);
    return counted(next(symbol, pfn, version, flags, status), pfn);
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, pfn, version, flags, NULL);
}

__attribute__((destructor)) static void tell(void) {
    const char *folder = getenv("%(where)s");
    char path[4096];
    snprintf(path, sizeof path, "%%s/%%d", folder ? folder : "", getpid());
    FILE *file = folder ? fopen(path, "w") : NULL;
    for (int i = 0; file && i < COUNT; i++)
        if (calls[i])
            fprintf(file, "%%s %%lu\n", names[i], calls[i]);
    if (file)
        fclose(file);
}
"""
_BY_HAND = ("cuGetProcAddress", "cuGetProcAddress_v2")
_JUMP = r"""
"\n.globl {name}\n.type {name}, @function\n{name}:"
"\n lock incq calls+{place}(%rip)\n jmp *targets+{place}(%rip)\n.size {name}, .-{name}"
"""


def build(folder: Path, headers: Path) -> Path:
    """Make a folder of emulated libraries whose driver counts."""
    folder.mkdir()
    for name in (NVML, *RUNTIMES):
        (folder / name).symlink_to(library_folder() / name)
    # By another name: an interposer looks for libraries that are called libcuda.so.
    driver = folder / "counted.so"
    driver.symlink_to(library_folder() / DRIVER)
    command = ["nm", "--dynamic", "--defined-only", "--format=posix", str(driver)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    functions = {row[0]: int(row[2], 16) for row in rows}
    jumped = [name for name in functions if name not in _BY_HAND]
    order = list(functions)
    source = _SOURCE % {
        "count": len(functions),
        "names": ", ".join(f'"{name}"' for name in order),
        "places": ", ".join(map(str, functions.values())),
        "declarations": "\n".join(f'extern char {name}_[] __asm__("{name}");' for name in jumped),
        "ours": ", ".join(f"{name}_" if name in jumped else f"(void *){name}" for name in order),
        "jumps": "".join(_JUMP.format(name=name, place=8 * order.index(name)) for name in jumped),
        "driver": driver,
        "second": order.index("cuGetProcAddress_v2"),
        "where": WHERE,
    }
    (folder / "counting.c").write_text(source)
    subprocess.run(
        [
            *("cc", "-std=gnu11", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", f"-isystem{headers}"),
            *("-D__CUDA_API_VERSION_INTERNAL", f"-Wl,-soname,{DRIVER}", "-Wl,-Bsymbolic"),
            *("-include", "cudaTypedefs.h", "-o", str(folder / DRIVER), str(folder / "counting.c")),
        ],
        check=True,
    )
    return folder


def read(folder: Path, pid: int) -> dict[str, int]:
    """How often each function was called by a program that has ended."""
    rows = [line.split() for line in (folder / str(pid)).read_text().splitlines()]
    return {name: int(count) for name, count in rows}
