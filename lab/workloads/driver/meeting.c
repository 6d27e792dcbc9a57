#include "meeting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../../native/common/old_calls.h"
#include "gpu.h"

enum { PAGE = 4096 };

/* The text of the module, as part of the program. */
__asm__(".pushsection .rodata\n"
        "named_kernels_ptx: .incbin \"" NAMED_KERNELS "\"\n"
        ".byte 0\n"
        ".popsection");
extern const char named_kernels_ptx[];

static void give_up(const char *what) {
    perror(what);
    exit(1);
}

static int open_file(const char *name) {
    int file = name ? open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : old_memfd_create("ranks", 0);
    if (file < 0 || ftruncate(file, PAGE) < 0)
        give_up(name ? name : "memfd_create");
    return file;
}

struct meeting meeting_open(const struct driver_functions *driver, uint64_t ranks,
                            const char *name) {
    struct meeting meeting = {.ranks = ranks};
    int file = open_file(name);
    void *words = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (words == MAP_FAILED)
        give_up("mmap");
    close(file);
    meeting.last = (const _Atomic uint64_t *)words + MEETING_LAST;
    CHECK(driver, cuMemHostRegister, words, PAGE,
          CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    CHECK(driver, cuMemHostGetDevicePointer, &meeting.words, words, 0);
    return meeting;
}

struct named_kernels meeting_kernels(const struct driver_functions *driver) {
    struct named_kernels kernels;
    CUmodule module;
    CHECK(driver, cuModuleLoadData, &module, named_kernels_ptx);
    CHECK(driver, cuModuleGetFunction, &kernels.meet, module, "nvshare_meet_u64");
    CHECK(driver, cuModuleGetFunction, &kernels.pattern, module, "nvshare_pattern_u64");
    CHECK(driver, cuModuleGetFunction, &kernels.count_mismatches, module,
          "nvshare_count_mismatches_u64");
    return kernels;
}

void meeting_launch(const struct driver_functions *driver, const struct meeting *meeting,
                    CUfunction meet, uint64_t rank, uint64_t round, CUstream stream) {
    uint64_t words = meeting->words, ranks = meeting->ranks;
    void *parameters[] = {&words, &ranks, &rank, &round};
    CHECK(driver, cuLaunchKernel, meet, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL);
}
