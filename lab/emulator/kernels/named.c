/* The kernels that the emulated GPU really computes: those of src/nvshare/lab/emulator/kernels.ptx,
 * which do the same on a real one. Each has a struct that is its list of parameters there.
 *
 * They run with the driver's lock held. They process memory allocation by allocation, since
 * adjacent mappings need not have adjacent bytes. The shape of a launch does not matter: in PTX the
 * threads divide the work among them. */
#include <stdio.h>
#include <string.h>

#include "../process/function.h"
#include "../process/memory.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* The finaliser of splitmix64: every bit of the result depends on every bit of the argument. */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t pattern(uint64_t seed, uint64_t index) {
    return mix(seed + index * GOLDEN);
}

/* Copies a kernel's parameters out; false if there are too few. */
static bool read_parameters(const struct kernel_call *call, void *out, unsigned bytes) {
    if (call->parameter_bytes < bytes)
        return false;
    memcpy(out, call->parameters, bytes);
    return true;
}

/* An array in memory that a kernel walks through. */
struct walk {
    uint64_t address;
    unsigned char *bytes;
};

/* The number of the `count` elements that are in one piece; sets `bytes`. 0 if there is no memory:
 * a GPU would report an illegal address, here the kernel ends with a message. */
static uint64_t run_of(struct walk *walk, uint64_t element, uint64_t count) {
    const struct allocation *allocation = memory_find(walk->address);
    walk->bytes = allocation ? memory_resolve(walk->address) : NULL;
    if (!walk->bytes) {
        fprintf(stderr, "nvshare emulator: a kernel accessed 0x%llx, where no memory is mapped\n",
                (unsigned long long)walk->address);
        return 0;
    }
    uint64_t fit = (allocation->address + allocation->bytes - walk->address) / element;
    return fit < count ? fit : count;
}

static void fill(uint64_t address, uint32_t value, uint64_t count) {
    struct walk data = {.address = address};
    while (count) {
        uint64_t run = run_of(&data, sizeof value, count);
        if (!run)
            return;
        for (uint64_t i = 0; i < run; i++)
            memcpy(data.bytes + i * sizeof value, &value, sizeof value);
        data.address += run * sizeof value;
        count -= run;
    }
}

/* Floats and integers are filled alike: with 32 bits. */
static void fill_32(const struct kernel_call *call) {
    struct {
        uint64_t data;
        uint32_t value;
        uint64_t count;
    } p;
    if (read_parameters(call, &p, sizeof p))
        fill(p.data, p.value, p.count);
}

static void add_f32(const struct kernel_call *call) {
    struct {
        uint64_t x, y, z, count;
    } p;
    if (!read_parameters(call, &p, sizeof p))
        return;
    struct walk x = {.address = p.x}, y = {.address = p.y}, z = {.address = p.z};
    while (p.count) {
        uint64_t run = run_of(&x, sizeof(float), p.count);
        run = run ? run_of(&y, sizeof(float), run) : 0;
        run = run ? run_of(&z, sizeof(float), run) : 0;
        if (!run)
            return;
        for (uint64_t i = 0; i < run; i++) {
            float a, b;
            memcpy(&a, x.bytes + i * sizeof a, sizeof a);
            memcpy(&b, y.bytes + i * sizeof b, sizeof b);
            a += b;
            memcpy(z.bytes + i * sizeof a, &a, sizeof a);
        }
        x.address += run * sizeof(float);
        y.address += run * sizeof(float);
        z.address += run * sizeof(float);
        p.count -= run;
    }
}

/* Results are added to the present value, as the threads of a GPU do. */
static void add_to(uint64_t address, uint64_t amount) {
    struct walk out = {.address = address};
    uint64_t value;
    if (!run_of(&out, sizeof value, 1))
        return;
    memcpy(&value, out.bytes, sizeof value);
    value += amount;
    memcpy(out.bytes, &value, sizeof value);
}

static void sum_u32(const struct kernel_call *call) {
    struct {
        uint64_t data, out, count;
    } p;
    if (!read_parameters(call, &p, sizeof p))
        return;
    struct walk data = {.address = p.data};
    uint64_t sum = 0;
    while (p.count) {
        uint32_t value;
        uint64_t run = run_of(&data, sizeof value, p.count);
        if (!run)
            return;
        for (uint64_t i = 0; i < run; i++) {
            memcpy(&value, data.bytes + i * sizeof value, sizeof value);
            sum += value;
        }
        data.address += run * sizeof value;
        p.count -= run;
    }
    add_to(p.out, sum);
}

/* Goes over an array of 64-bit words and adds up the results of `each`. */
static bool sum_words(uint64_t address, uint64_t count, uint64_t seed,
                      uint64_t (*each)(uint64_t word, uint64_t index, uint64_t seed),
                      uint64_t *sum) {
    struct walk data = {.address = address};
    for (uint64_t index = 0; index < count;) {
        uint64_t word, run = run_of(&data, sizeof word, count - index);
        if (!run)
            return false;
        for (uint64_t i = 0; i < run; i++) {
            memcpy(&word, data.bytes + i * sizeof word, sizeof word);
            *sum += each(word, index + i, seed);
        }
        data.address += run * sizeof word;
        index += run;
    }
    return true;
}

/* A word's part in the checksum depends on its place, so that exchanged blocks are noticed. The
 * parts are added, so that threads can work in any order. */
static uint64_t part_of(uint64_t word, uint64_t index, uint64_t seed) {
    (void)seed;
    return mix(word ^ (index + 1) * GOLDEN);
}

static void checksum(const struct kernel_call *call) {
    struct {
        uint64_t data, bytes, out;
    } p;
    if (!read_parameters(call, &p, sizeof p))
        return;
    uint64_t words = p.bytes / 8, rest = p.bytes % 8, sum = 0, last = 0;
    if (!sum_words(p.data, words, 0, part_of, &sum))
        return;
    struct walk tail = {.address = p.data + words * 8};
    if (rest && run_of(&tail, 1, rest) == rest) {
        memcpy(&last, tail.bytes, rest); /* the last word is filled up with zeros */
        sum += part_of(last, words, 0);
    }
    add_to(p.out, sum);
}

static void pattern_u64(const struct kernel_call *call) {
    struct {
        uint64_t data, count, seed;
    } p;
    if (!read_parameters(call, &p, sizeof p))
        return;
    struct walk data = {.address = p.data};
    for (uint64_t index = 0; index < p.count;) {
        uint64_t word, run = run_of(&data, sizeof word, p.count - index);
        if (!run)
            return;
        for (uint64_t i = 0; i < run; i++) {
            word = pattern(p.seed, index + i);
            memcpy(data.bytes + i * sizeof word, &word, sizeof word);
        }
        data.address += run * sizeof word;
        index += run;
    }
}

static uint64_t is_mismatch(uint64_t word, uint64_t index, uint64_t seed) {
    return word != pattern(seed, index);
}

static void count_mismatches_u64(const struct kernel_call *call) {
    struct {
        uint64_t data, count, seed, out;
    } p;
    uint64_t sum = 0;
    if (read_parameters(call, &p, sizeof p) &&
        sum_words(p.data, p.count, p.seed, is_mismatch, &sum))
        add_to(p.out, sum);
}

static void *word_at(uint64_t address) {
    return memory_find(address) ? memory_resolve(address) : NULL;
}

/* Whether a word could be read. If it is missing, the kernel ends, and its context dies. */
static bool read_word(uint64_t address, uint64_t *word) {
    const void *bytes = word_at(address);
    if (bytes)
        memcpy(word, bytes, sizeof *word);
    return bytes != NULL;
}

static void write_word(uint64_t address, uint64_t word) {
    void *bytes = word_at(address);
    if (bytes)
        memcpy(bytes, &word, sizeof word);
}

static bool await_u64(const struct kernel_call *call) {
    struct {
        uint64_t word, value;
    } p;
    uint64_t word;
    return !read_parameters(call, &p, sizeof p) || !read_word(p.word, &word) || word >= p.value;
}

/* A kernel that stays on the GPU and is handed one number after the other. `in` has the count so
 * far and the last number; `out` has the count taken so far and the sum. */
static bool serve_u64(const struct kernel_call *call) {
    struct {
        uint64_t in, out, rounds;
    } p;
    uint64_t handed, number, taken, sum;
    if (!read_parameters(call, &p, sizeof p) || !read_word(p.in, &handed) ||
        !read_word(p.in + 8, &number) || !read_word(p.out, &taken) || !read_word(p.out + 8, &sum))
        return true;
    if (taken < p.rounds && handed > taken) {
        write_word(p.out + 8, sum + number);
        write_word(p.out, ++taken);
    }
    return taken >= p.rounds;
}

/* A barrier of kernels: each announces its arrival, and waits for the others. It may announce it
 * repeatedly. */
static bool meet_u64(const struct kernel_call *call) {
    struct {
        uint64_t words, ranks, rank, value;
    } p;
    uint64_t word;
    if (!read_parameters(call, &p, sizeof p) || p.rank >= p.ranks)
        return true;
    write_word(p.words + p.rank * sizeof word, p.value);
    for (uint64_t i = 0; i < p.ranks; i++) {
        if (!read_word(p.words + i * sizeof word, &word))
            return true;
        if (word < p.value)
            return false;
    }
    return true;
}

static void nothing(const struct kernel_call *call) {
    (void)call;
}

static uint64_t spin_cost(const struct kernel_call *call) {
    uint64_t microseconds = 0;
    read_parameters(call, &microseconds, sizeof microseconds);
    return microseconds < UINT64_MAX / 1000 ? microseconds * 1000 : UINT64_MAX;
}

#define SPANS(...) ((const struct kernel_span[]){__VA_ARGS__, {0}})

static const struct named_kernel KERNELS[] = {
    {"nvshare_fill_f32", fill_32, NULL, SPANS({0, 16, 4}), NULL},
    {"nvshare_fill_u32", fill_32, NULL, SPANS({0, 16, 4}), NULL},
    {"nvshare_add_f32", add_f32, NULL, SPANS({0, 24, 4}, {8, 24, 4}, {16, 24, 4}), NULL},
    {"nvshare_sum_u32", sum_u32, NULL, SPANS({0, 16, 4}, {8, ONE_ELEMENT, 8}), NULL},
    {"nvshare_checksum", checksum, NULL, SPANS({0, 8, 1}, {16, ONE_ELEMENT, 8}), NULL},
    {"nvshare_pattern_u64", pattern_u64, NULL, SPANS({0, 8, 8}), NULL},
    {"nvshare_count_mismatches_u64", count_mismatches_u64, NULL,
     SPANS({0, 8, 8}, {24, ONE_ELEMENT, 8}), NULL},
    {"nvshare_spin", nothing, spin_cost, (const struct kernel_span[]){{0}}, NULL},
    {"nvshare_await_u64", NULL, NULL, SPANS({0, ONE_ELEMENT, 8}), await_u64},
    {"nvshare_serve_u64", NULL, NULL, SPANS({0, ONE_ELEMENT, 16}, {8, ONE_ELEMENT, 16}), serve_u64},
    {"nvshare_meet_u64", NULL, NULL, SPANS({0, 8, 8}), meet_u64},
};

const struct named_kernel *kernels_find(const char *name) {
    for (size_t i = 0; i < sizeof KERNELS / sizeof KERNELS[0]; i++)
        if (strcmp(KERNELS[i].name, name) == 0)
            return &KERNELS[i];
    return NULL;
}
