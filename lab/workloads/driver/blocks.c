#include "blocks.h"

#include <stdio.h>
#include <stdlib.h>

/* The emulated GPU finds no more allocations than this in the parameters of one kernel. */
enum { MAX_POINTERS = 60 };

static uint64_t size_of(const struct blocks *blocks, size_t block) {
    return blocks->cuts.at[block + 1] - blocks->cuts.at[block];
}

void blocks_resize(const struct driver_functions *driver, struct blocks *blocks, uint64_t bytes) {
    while (blocks->count && blocks->cuts.at[blocks->count] > bytes)
        CHECK(driver, cuMemFree, blocks->at[--blocks->count]);
    for (; blocks->cuts.at[blocks->count] < bytes; blocks->count++)
        blocks->at[blocks->count] = gpu_allocate(driver, size_of(blocks, blocks->count),
                                                 blocks->managed ? GPU_MANAGED : GPU_PLAIN);
}

/* Copies to the last block first, until `bytes` are reached. */
void blocks_copy_in(const struct driver_functions *driver, const struct blocks *blocks,
                    uint64_t bytes) {
    for (size_t i = blocks->count; i > 0 && bytes; i--) {
        uint64_t part = size_of(blocks, i - 1) < bytes ? size_of(blocks, i - 1) : bytes;
        gpu_copy_in(driver, blocks->at[i - 1], part);
        bytes -= part;
    }
}

struct window blocks_between(const struct blocks *blocks, uint64_t begin, uint64_t end) {
    struct window window = {0};
    while (blocks->cuts.at[window.first] < begin)
        window.first++;
    while (blocks->cuts.at[window.first + window.count] < end)
        window.count++;
    if (window.count > MAX_POINTERS) {
        fprintf(stderr,
                "driver-phases: a kernel would touch %zu allocations, but can touch at most %d\n",
                window.count, MAX_POINTERS);
        exit(2);
    }
    return window;
}

/* Each thread adds up every n-th element of each block. The sum is stored, so that the compiler
 * keeps the reads. */
static void write_kernel(FILE *file, size_t count, double cost_us) {
    fputs(".version 6.3\n.target sm_75\n.address_size 64\n.visible .entry touch(", file);
    for (size_t i = 0; i < count; i++)
        fprintf(file, "%s.param .u64 p%zu, .param .u64 n%zu", i ? ", " : "", i, i);
    fputs(")\n{\n  .reg .pred %p; .reg .f32 %f<3>; .reg .b32 %r<5>; .reg .b64 %rd<9>;\n", file);
    if (cost_us > 0)
        fprintf(file, "  .pragma \"nvshare cost_us %.3f\";\n", cost_us);
    fputs("  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
          "  mov.u32 %r4, %nctaid.x; mul.wide.u32 %rd1, %r1, %r2; cvt.u64.u32 %rd2, %r3;\n"
          "  add.u64 %rd1, %rd1, %rd2; mul.wide.u32 %rd2, %r4, %r2; mov.f32 %f1, 0f00000000;\n",
          file);
    for (size_t i = 0; i < count; i++)
        fprintf(file,
                "  ld.param.u64 %%rd3, [p%zu]; ld.param.u64 %%rd4, [n%zu]; mov.u64 %%rd5, %%rd1;\n"
                "NEXT%zu: setp.ge.u64 %%p, %%rd5, %%rd4; @%%p bra DONE%zu;\n"
                "  shl.b64 %%rd6, %%rd5, 2; add.u64 %%rd6, %%rd3, %%rd6;\n"
                "  ld.global.f32 %%f2, [%%rd6]; add.f32 %%f1, %%f1, %%f2;\n"
                "  add.u64 %%rd5, %%rd5, %%rd2; bra NEXT%zu;\nDONE%zu:\n",
                i, i, i, i, i, i);
    if (count)
        fputs("  ld.param.u64 %rd7, [p0]; st.global.f32 [%rd7], %f1;\n", file);
    fputs("  ret;\n}\n", file);
}

CUfunction blocks_kernel(const struct driver_functions *driver, size_t count, double cost_us) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    if (file)
        write_kernel(file, count, cost_us);
    if (!file || fclose(file) != 0) {
        perror("open_memstream");
        exit(1);
    }
    CUfunction kernel = gpu_load(driver, text, "touch");
    free(text);
    return kernel;
}

void blocks_launch(const struct driver_functions *driver, const struct blocks *blocks,
                   CUfunction kernel, struct window window, CUstream stream) {
    CUdeviceptr addresses[MAX_POINTERS];
    uint64_t elements[MAX_POINTERS];
    void *parameters[2 * MAX_POINTERS];
    for (size_t i = 0; i < window.count; i++) {
        addresses[i] = blocks->at[window.first + i];
        elements[i] = size_of(blocks, window.first + i) / sizeof(float);
        parameters[2 * i] = &addresses[i];
        parameters[2 * i + 1] = &elements[i];
    }
    CHECK(driver, cuLaunchKernel, kernel, 4096, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
}
