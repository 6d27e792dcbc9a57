/* A program with one bad habit: it works on the GPU, in two threads, and does something to its
 * process meanwhile. What it prints depends on the habit alone.
 *
 *     habits list                       the names of all
 *     habits KERNELS.PTX NAME [ROUNDS]  works, does it, and works on */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include "../guest.h"
#include "habits.h"

enum { BYTES = 8 << 20, WORDS = BYTES / 8 };

static const struct habit *const all[] = {of_descriptors, of_limits,    of_signals,
                                          of_threads,     of_processes, of_memory};
static CUcontext context;
static CUfunction pattern, checksum;
static char notes[4096];
static int rounds = 20;

/* Every thread has a buffer of its own, and leaves it to the end of the program. */
static _Thread_local struct {
    CUdeviceptr data, sum;
    uint64_t seed, expected;
} own;

void use_context(void) {
    DO(cuCtxSetCurrent(context));
}

static void launch(CUfunction function, void **parameters) {
    DO(cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL));
}

static uint64_t look(void) {
    uint64_t bytes = BYTES, sum = 0;
    void *parameters[] = {&own.data, &bytes, &own.sum};
    DO(cuMemcpyHtoD(own.sum, &sum, sizeof sum));
    launch(checksum, parameters);
    DO(cuMemcpyDtoH(&sum, own.sum, sizeof sum));
    return sum;
}

/* What was written in the round before is still there. */
void work(void) {
    uint64_t words = WORDS;
    if (!own.data) {
        DO(cuMemAlloc(&own.data, BYTES));
        DO(cuMemAlloc(&own.sum, sizeof(uint64_t)));
    } else if (look() != own.expected) {
        fprintf(stderr, "a byte is wrong\n");
        _exit(1);
    }
    own.seed++;
    void *parameters[] = {&own.data, &words, &own.seed};
    launch(pattern, parameters);
    own.expected = look();
}

void give_back(void) {
    DO(cuMemFree(own.data));
    DO(cuMemFree(own.sum));
    own.data = own.sum = 0;
}

void note(const char *format, ...) {
    size_t length = strlen(notes);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(notes + length, sizeof notes - length, format, arguments);
    va_end(arguments);
}

static void *work_beside(void *result) {
    use_context();
    for (int i = 0; i < rounds; i++) {
        work();
        usleep(1000);
    }
    *(uint64_t *)result = own.expected;
    return NULL;
}

static void begin(const char *kernels) {
    CUmodule module;
    char *ptx = read_file(kernels);
    DO(cuInit(0));
    DO(cuDevicePrimaryCtxRetain(&context, 0));
    use_context();
    DO(cuModuleLoadData(&module, ptx));
    free(ptx);
    DO(cuModuleGetFunction(&pattern, module, "nvshare_pattern_u64"));
    DO(cuModuleGetFunction(&checksum, module, "nvshare_checksum"));
}

static const struct habit *find(const char *name) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct habit *habit = all[i]; habit->name; habit++)
            if (strcmp(habit->name, name) == 0)
                return habit;
    return NULL;
}

static int list(void) {
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (const struct habit *habit = all[i]; habit->name; habit++)
            puts(habit->name);
    return 0;
}

int main(int count, char **arguments) {
    uint64_t beside = 0;
    pthread_t thread;
    if (count == 2 && strcmp(arguments[1], "list") == 0)
        return list();
    const struct habit *habit = count >= 3 ? find(arguments[2]) : NULL;
    if (!habit)
        return 2;
    if (count == 4)
        rounds = atoi(arguments[3]);
    begin(arguments[1]);
    work();
    MUST(pthread_create(&thread, NULL, work_beside, &beside) == 0);
    usleep(2000);
    habit->act();
    for (int i = 0; i < rounds; i++)
        work();
    MUST(pthread_join(thread, NULL) == 0);
    char line[sizeof notes + 128];
    int length = snprintf(line, sizeof line, "%s: %016llx %016llx%s\n", habit->name,
                          (unsigned long long)own.expected, (unsigned long long)beside, notes);
    MUST(write(STDOUT_FILENO, line, (size_t)length) == length);
    return 0;
}
