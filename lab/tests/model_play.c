/* Runs a script on a node in memory, in virtual time: the model without clocks, locks and
 * processes.
 *
 * Each line of the input is a command with numbers after it; each gets one line of JSON as its
 * answer. Time goes on only by `advance`. tests/unit/lab/emulator/model/play.py gives the numbers
 * names and says what the commands mean. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "model/activity.h"
#include "model/busy.h"
#include "model/engine.h"
#include "model/node.h"
#include "model/recover.h"
#include "model/residency.h"
#include "model/scrub.h"

enum { MAX_NUMBERS = 1 << 16, WORDS_PER_REFERENCE = 4 };

/* The result of one operation, kept after its place in the queue is free again. */
struct outcome {
    uint64_t started_at, finished_at;
    struct outcome *next;
};

struct history {
    struct outcome *first, **end;
};

struct play {
    struct node *node;
    struct history histories[MAX_PROCESSES][MAX_QUEUES];
    struct reference references[REFERENCE_SLOTS];
    uint64_t numbers[MAX_NUMBERS];
    uint32_t count;
};

static void fail(const char *what) {
    fprintf(stderr, "model_play: %s\n", what);
    exit(1);
}

static void forget(struct history *history) {
    while (history->first) {
        struct outcome *next = history->first->next;
        free(history->first);
        history->first = next;
    }
    history->end = NULL;
}

static void forget_process(struct play *play, uint32_t slot) {
    for (uint32_t q = 0; q < MAX_QUEUES; q++)
        forget(&play->histories[slot][q]);
}

static void end(struct play *play) {
    for (uint32_t s = 0; s < MAX_PROCESSES; s++)
        forget_process(play, s);
    if (play->node)
        munmap(play->node, sizeof *play->node);
    play->node = NULL;
}

static void begin(struct play *play, const char *path) {
    end(play);
    play->node = mmap(NULL, sizeof *play->node, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (play->node == MAP_FAILED)
        fail("no memory for a node");
    struct gpu_profile gpus[MAX_GPUS];
    char why[300];
    if (profile_read(path, &play->node->profile, gpus, why, sizeof why) < 0) {
        end(play);
        printf("\"%s\"\n", why);
        return;
    }
    for (uint32_t g = 0; g < play->node->profile.gpu_count; g++) {
        play->node->gpus[g].profile = gpus[g];
        play->node->gpus[g].current_slot = NO_INDEX;
    }
    puts("null");
}

static uint64_t number(const struct play *play, uint32_t i) {
    if (i >= play->count)
        fail("a number is missing");
    return play->numbers[i];
}

static uint32_t slot_index(const struct play *play) {
    uint64_t slot = number(play, 0);
    if (slot >= MAX_PROCESSES)
        fail("no such process");
    return (uint32_t)slot;
}

static struct slot *slot_of(const struct play *play) {
    return &play->node->slots[slot_index(play)];
}

static uint32_t queue_index(const struct play *play) {
    uint64_t queue = number(play, 1);
    if (queue >= MAX_QUEUES)
        fail("no such queue");
    return (uint32_t)queue;
}

static struct queue *queue_of(const struct play *play) {
    return &slot_of(play)->queues[queue_index(play)];
}

/* Treats finished operations as the process would. */
static void reap(struct play *play, uint32_t s, uint32_t q) {
    struct queue *queue = &play->node->slots[s].queues[q];
    struct history *history = &play->histories[s][q];
    if (queue->completed > queue->submitted)
        fail("more was completed than submitted");
    for (; queue->reaped < queue->completed; queue->reaped++) {
        const struct operation *operation = &queue->operations[queue->reaped % QUEUE_SLOTS];
        struct outcome *outcome = calloc(1, sizeof *outcome);
        if (!outcome)
            fail("no memory");
        outcome->started_at = operation->started_at;
        outcome->finished_at = operation->finished_at;
        *(history->end ? history->end : &history->first) = outcome;
        history->end = &outcome->next;
    }
}

static void reap_all(struct play *play) {
    for (uint32_t s = 0; s < play->node->slot_limit; s++)
        for (uint32_t q = 0; q < play->node->slots[s].queue_limit; q++)
            reap(play, s, q);
}

static void submit(struct play *play, const struct operation *operation) {
    const struct queue *queue = queue_of(play);
    if (!engine_has_room(play->node, queue, operation->references)) {
        puts("null");
        return;
    }
    uint64_t ticket =
        engine_submit(play->node, slot_index(play), queue_index(play), operation, play->references);
    printf("%" PRIu64 "\n", ticket);
}

/* The references that the numbers from `from` on describe; returns how many. */
static uint16_t read_references(struct play *play, uint32_t from) {
    uint32_t count = (play->count - from) / WORDS_PER_REFERENCE;
    if (count > REFERENCE_SLOTS)
        fail("too many references");
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *words = &play->numbers[from + i * WORDS_PER_REFERENCE];
        play->references[i] = (struct reference){.range = (uint32_t)words[0],
                                                 .first_block = (uint32_t)words[1],
                                                 .blocks = (uint32_t)words[2],
                                                 .bytes = words[3]};
    }
    return (uint16_t)count;
}

static void do_process(struct play *play) {
    uint32_t slot = slot_index(play);
    if (slot >= play->node->slot_limit)
        play->node->slot_limit = slot + 1;
    play->node->slots[slot].in_use = 1;
    puts("null");
}

static void do_kill(struct play *play) {
    node_clear_slot(play->node, slot_index(play));
    forget_process(play, slot_index(play));
    puts("null");
}

static void do_queue(struct play *play) {
    struct queue *queue = queue_of(play);
    queue->gpu = (uint8_t)number(play, 2);
    queue->context = (uint32_t)number(play, 3);
    queue->priority = (int16_t)number(play, 4);
    if (queue_index(play) >= slot_of(play)->queue_limit)
        slot_of(play)->queue_limit = queue_index(play) + 1;
    queue->in_use = 1;
    puts("null");
}

static void do_work(struct play *play) {
    struct operation operation = {.kind = OPERATION_WORK,
                                  .engine = (uint8_t)number(play, 2),
                                  .amount = number(play, 3),
                                  .flags = (uint8_t)number(play, 4),
                                  .references = read_references(play, 5)};
    submit(play, &operation);
}

static void do_prefetch(struct play *play) {
    struct operation operation = {.kind = OPERATION_PREFETCH,
                                  .engine = ENGINE_NONE,
                                  .target = (uint8_t)number(play, 2),
                                  .references = read_references(play, 3)};
    submit(play, &operation);
}

static void do_wait(struct play *play) {
    struct operation operation = {.kind = OPERATION_WAIT,
                                  .wait_queue = (uint32_t)number(play, 2),
                                  .wait_ticket = number(play, 3)};
    submit(play, &operation);
}

static void do_marker(struct play *play) {
    submit(play, &(struct operation){.kind = OPERATION_MARKER});
}

static void do_host(struct play *play) {
    submit(play, &(struct operation){.kind = OPERATION_HOST});
}

/* Returns whether there was a host function that could run, or a kernel that spins. */
static void do_hostdone(struct play *play) {
    struct operation *head = head_of(queue_of(play));
    bool due =
        queue_of(play)->completed < queue_of(play)->submitted &&
        ((head->kind == OPERATION_HOST && head->host_ready) || head->flags & OPERATION_UNTIL_TOLD);
    if (due)
        head->host_done = 1;
    puts(due ? "true" : "false");
}

static void do_room(struct play *play) {
    bool room = engine_has_room(play->node, queue_of(play), (uint32_t)number(play, 2));
    puts(room ? "true" : "false");
}

static void do_soonest(struct play *play) {
    uint64_t ns = engine_soonest(play->node, slot_index(play), queue_index(play), number(play, 2));
    printf("%" PRIu64 "\n", ns);
}

static void do_range(struct play *play) {
    printf("%d\n", range_create(play->node, slot_index(play), (uint32_t)number(play, 1),
                                (uint32_t)number(play, 2)));
}

static void do_destroy(struct play *play) {
    range_destroy(play->node, slot_index(play), (uint32_t)number(play, 1));
    puts("null");
}

/* Moves blocks to a place, at once and without cost. */
static void do_place(struct play *play) {
    const struct range *range = &slot_of(play)->ranges[number(play, 1)];
    for (uint32_t i = 0; i < number(play, 3); i++)
        block_put(play->node, slot_index(play), range->first_block + (uint32_t)number(play, 2) + i,
                  (uint8_t)number(play, 4));
    puts("null");
}

static void do_advise(struct play *play) {
    for (uint32_t i = 0; i < number(play, 2); i++) {
        struct block *block = &slot_of(play)->blocks[number(play, 1) + i];
        block->preferred = (uint8_t)number(play, 3);
        block->accessed_by = (uint16_t)number(play, 4);
    }
    puts("null");
}

/* The bytes that had to leave, or a negative errno. */
static void do_plain(struct play *play) {
    struct room room;
    int result = gpu_take_plain(play->node, slot_index(play), (uint32_t)number(play, 1),
                                number(play, 2), &room);
    printf("%" PRId64 "\n", result < 0 ? result : (int64_t)room.evicted);
}

static void do_unplain(struct play *play) {
    gpu_give_plain(play->node, slot_index(play), (uint32_t)number(play, 1), number(play, 2));
    puts("null");
}

/* Emulated ns that pinned memory of a size waits for the scrubber. */
static void do_scrub(struct play *play) {
    printf("%" PRIu64 "\n", scrub_wait_ns(&play->node->gpus[number(play, 0)], number(play, 1)));
}

static void do_context(struct play *play) {
    struct room room;
    printf("%d\n",
           gpu_take_context(play->node, slot_index(play), (uint32_t)number(play, 1), &room));
}

static void do_uncontext(struct play *play) {
    gpu_give_context(play->node, slot_index(play), (uint32_t)number(play, 1));
    puts("null");
}

/* A process's limits of host memory: its own limit; its cgroup, with limit and use. */
static void do_limit(struct play *play) {
    struct slot *slot = slot_of(play);
    slot->host_limit = number(play, 1);
    slot->cgroup = number(play, 2);
    slot->cgroup_limit = number(play, 3);
    slot->cgroup_bytes = number(play, 4);
    puts("null");
}

/* Whether the call of a prefetch has returned, and its result. */
static void do_issued(struct play *play) {
    int error = 0;
    bool issued =
        engine_is_issued(play->node, slot_index(play), queue_index(play), number(play, 2), &error);
    printf("[%s,%d]\n", issued ? "true" : "false", error);
}

static void do_advance(struct play *play) {
    engine_advance(play->node, number(play, 0));
    for (uint32_t g = 0; g < play->node->profile.gpu_count; g++)
        if (play->node->gpus[g].clock < number(play, 0))
            fail("a clock stayed behind");
    reap_all(play);
    puts("null");
}

static void do_finished(struct play *play) {
    const char *comma = "";
    reap(play, slot_index(play), queue_index(play));
    putchar('[');
    const struct history *history = &play->histories[slot_index(play)][queue_index(play)];
    for (const struct outcome *o = history->first; o; o = o->next, comma = ",")
        printf("%s[%" PRIu64 ",%" PRIu64 "]", comma, o->started_at, o->finished_at);
    puts("]");
}

/* The use of a GPU's bucket in percent, and the part of a process. */
static void do_busy(struct play *play) {
    uint32_t g = (uint32_t)number(play, 1), age = (uint32_t)number(play, 2);
    uint64_t now = play->node->gpus[g].clock;
    printf("[%u,%u]\n", busy_percent_gpu(&play->node->gpus[g], now, age),
           busy_percent_account(&slot_of(play)->accounts[g], now, age));
}

/* Corrupts all derived data, as if half of it had not been written. */
static void do_scramble(struct play *play) {
    struct gpu *gpu = &play->node->gpus[0];
    switch (number(play, 0)) {
    case 0: gpu->plain_bytes += 1; break;
    case 1: gpu->context_bytes += 1; break;
    case 2: gpu->resident_blocks += 1; break;
    case 3: play->node->slots[0].accounts[0].resident_blocks += 1; break;
    case 4: play->node->slots[0].accounts[0].chunks += 1; break;
    case 5: gpu->active_count = 0; break;
    case 6: play->node->waits_across += 1; break;
    case 7: play->node->slots[0].queues[0].active ^= 1; break;
    case 8: gpu->chunks += 1; break;
    case 9: play->node->slots[0].host_blocks += 1; break;
    case 10: play->node->host_blocks += 1; break;
    case 11: gpu->used.head += 1; break;
    case 12: gpu->unused.tail = 0; break;
    default: fail("nothing to scramble");
    }
    puts("null");
}

static void do_difference(struct play *play) {
    const char *difference = node_difference(play->node);
    printf(difference ? "\"%s\"\n" : "null\n", difference);
}

static void do_recover(struct play *play) {
    node_recover(play->node);
    puts("null");
}

static void print_gpu(const struct gpu *gpu) {
    printf("{\"clock\":%" PRIu64 ",\"plain_bytes\":%" PRIu64 ",\"context_bytes\":%" PRIu64
           ",\"resident_blocks\":%u,\"free_bytes\":%" PRIu64 ",",
           gpu->clock, gpu->plain_bytes, gpu->context_bytes, gpu->resident_blocks,
           gpu_free_bytes(gpu));
    printf("\"chunks\":%u,\"surplus\":%u,\"reclaims\":%" PRIu64 ",\"cancelled\":%" PRIu64
           ",\"xids\":%" PRIu64 ",\"last_xid\":%u,\"out_left\":%.0f,",
           gpu->chunks, gpu->surplus, gpu->reclaims, gpu->cancelled, gpu->xids, gpu->last_xid,
           (double)gpu->out_queued - gpu->out_done);
    printf("\"switches\":%" PRIu64 ",\"faults\":%" PRIu64 ",\"evictions\":%" PRIu64
           ",\"in_bytes\":%" PRIu64 ",\"out_bytes\":%" PRIu64 ",\"busy_total_ns\":%" PRIu64 ",",
           gpu->switches, gpu->faults, gpu->evictions, gpu->in_bytes, gpu->out_bytes,
           gpu->busy_total_ns);
    printf("\"moved_in_bytes\":%" PRIu64 ",\"moved_out_bytes\":%" PRIu64 ",\"moving_ns\":%" PRIu64
           ",\"active\":%u}",
           gpu->moved_in_bytes, gpu->moved_out_bytes, gpu->moving_ns, gpu->active_count);
}

static void print_account(const struct account *account) {
    printf("{\"plain_bytes\":%" PRIu64 ",\"context_bytes\":%" PRIu64
           ",\"contexts\":%u,\"resident_blocks\":%u,\"chunks\":%u,",
           account->plain_bytes, account->context_bytes, account->contexts,
           account->resident_blocks, account->chunks);
    printf("\"compute_ns\":%" PRIu64 ",\"fault_ns\":%" PRIu64 ",\"in_bytes\":%" PRIu64
           ",\"out_bytes\":%" PRIu64 ",\"kernels\":%" PRIu64 "}",
           account->compute_ns, account->fault_ns, account->in_bytes, account->out_bytes,
           account->kernels);
}

/* Where each block of a range is, one letter per block. */
static void print_range(const struct slot *slot, const struct range *range) {
    putchar('"');
    for (uint32_t i = 0; range->in_use && i < range->blocks; i++)
        putchar("-h0123456789abcde"[slot->blocks[range->first_block + i].location]);
    putchar('"');
}

/* The host pages of each block of a range: none, pages, mapped pages. */
static void print_pages(const struct slot *slot, const struct range *range) {
    putchar('"');
    for (uint32_t i = 0; range->in_use && i < range->blocks; i++)
        putchar("-p?m"[slot->blocks[range->first_block + i].host]);
    putchar('"');
}

static void print_ranges(const struct slot *slot, const char *name,
                         void (*print)(const struct slot *slot, const struct range *range)) {
    printf("\"%s\":[", name);
    for (uint32_t r = 0; r < slot->range_limit; r++) {
        fputs(r ? "," : "", stdout);
        print(slot, &slot->ranges[r]);
    }
    printf("],");
}

static void print_slot(const struct slot *slot, uint32_t gpu_count) {
    printf("{\"host_blocks\":%u,\"doomed\":%u,", slot->host_blocks, slot->doomed);
    printf("\"failed\":[");
    for (uint32_t q = 0; q < slot->queue_limit; q++)
        printf("%s%u", q ? "," : "", slot->queues[q].failed);
    printf("],\"accounts\":[");
    for (uint32_t g = 0; g < gpu_count; g++) {
        fputs(g ? "," : "", stdout);
        print_account(&slot->accounts[g]);
    }
    printf("],");
    print_ranges(slot, "ranges", print_range);
    print_ranges(slot, "pages", print_pages);
    printf("\"pending\":[");
    for (uint32_t q = 0; q < slot->queue_limit; q++)
        printf("%s%" PRIu64, q ? "," : "", slot->queues[q].submitted - slot->queues[q].completed);
    printf("]}");
}

static void do_report(struct play *play) {
    const struct node *node = play->node;
    printf("{\"waits_across\":%u,\"host_blocks\":%u,\"gpus\":[", node->waits_across,
           node->host_blocks);
    for (uint32_t g = 0; g < node->profile.gpu_count; g++) {
        fputs(g ? "," : "", stdout);
        print_gpu(&node->gpus[g]);
    }
    printf("],\"processes\":{");
    const char *comma = "";
    for (uint32_t s = 0; s < node->slot_limit; s++) {
        if (!node->slots[s].in_use)
            continue;
        printf("%s\"%u\":", comma, s);
        print_slot(&node->slots[s], node->profile.gpu_count);
        comma = ",";
    }
    puts("}}");
}

static const struct {
    const char *verb;
    void (*run)(struct play *play);
} COMMANDS[] = {
    {"process", do_process},
    {"kill", do_kill},
    {"queue", do_queue},
    {"work", do_work},
    {"prefetch", do_prefetch},
    {"wait", do_wait},
    {"marker", do_marker},
    {"host", do_host},
    {"hostdone", do_hostdone},
    {"room", do_room},
    {"soonest", do_soonest},
    {"range", do_range},
    {"destroy", do_destroy},
    {"place", do_place},
    {"advise", do_advise},
    {"scrub", do_scrub},
    {"plain", do_plain},
    {"unplain", do_unplain},
    {"context", do_context},
    {"uncontext", do_uncontext},
    {"advance", do_advance},
    {"finished", do_finished},
    {"busy", do_busy},
    {"scramble", do_scramble},
    {"difference", do_difference},
    {"recover", do_recover},
    {"report", do_report},
    {"limit", do_limit},
    {"issued", do_issued},
};

static void read_numbers(struct play *play) {
    play->count = 0;
    for (const char *word; (word = strtok(NULL, " \n"));) {
        if (play->count == MAX_NUMBERS)
            fail("too many numbers");
        play->numbers[play->count++] = strtoull(word, NULL, 10);
    }
}

static void obey(struct play *play, char *line) {
    const char *verb = strtok(line, " \n");
    if (!verb)
        fail("an empty line");
    if (strcmp(verb, "begin") == 0) {
        begin(play, strtok(NULL, "\n"));
        return;
    }
    if (!play->node)
        fail("nothing has begun");
    read_numbers(play);
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (strcmp(verb, COMMANDS[i].verb) == 0) {
            COMMANDS[i].run(play);
            return;
        }
    }
    fail("no such command");
}

int main(void) {
    struct play *play = calloc(1, sizeof *play);
    char *line = NULL;
    size_t room = 0;
    if (!play)
        fail("no memory");
    while (getline(&line, &room, stdin) > 0) {
        obey(play, line);
        fflush(stdout);
    }
    end(play);
    free(line);
    free(play);
    return 0;
}
