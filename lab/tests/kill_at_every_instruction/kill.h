/* Declarations that the parts of kill_at_every_instruction share. */
#ifndef NVSHARE_TESTS_KILL_H
#define NVSHARE_TESTS_KILL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/node.h"

enum {
    MAX_INSTRUCTIONS = 200000,
    SURVIVOR = 0, /* its slot; it is the parent */
    SURVIVOR_BLOCKS = 4,
    BLOCKS = 3, /* of the one that is killed */
    WATCHED_SLOTS = 4,
};
#define SURVIVOR_PLAIN ((uint64_t)16 << 20)
#define VICTIM_PLAIN   ((uint64_t)32 << 20)

/* Ends the test with a sentence. */
void fail(const char *what);
void check(bool good, const char *what);

/* processes.c: the processes and their actions. */
void set_up_survivor(struct node *node);
void set_up_process(struct node *node, uint32_t slot);
void put_range(struct node *node, uint32_t slot, uint32_t first, uint32_t blocks, uint8_t location);
void submit(struct node *node, uint32_t slot, uint8_t kind, uint8_t target);
uint64_t later(const struct node *node);

/* changes.c: the changes during which a process is killed. `make` gets its slot and begins with the
 * lock free. */
struct change {
    const char *name;
    void (*make)(struct node *node, uint32_t slot);
    bool joins;          /* is itself the joining */
    bool after_death;    /* of another process, not yet noticed */
    bool lock_abandoned; /* by that other process */
};
const struct change *find_change(const char *name);

/* image.c: the parts of the node that changes affect, for comparison and for a fresh start. */
enum { MAX_PARTS = 4 + WATCHED_SLOTS * 5, WATCHED_ENTRIES = 128 };

struct image {
    struct part {
        unsigned char *bytes;
        size_t size;
    } parts[MAX_PARTS];
    unsigned char *copies[MAX_PARTS];
    uint32_t count;
};
struct image take_image(struct node *node);
bool update_image(struct image *image); /* says whether anything had changed */
void put_back(const struct image *image);
void drop_image(struct image *image);

/* stepping.c: processes, instruction by instruction. */
struct course {
    uint32_t length;
    uint64_t address[MAX_INSTRUCTIONS + 1]; /* after so many instructions, the next one is here */
    uint32_t passed[MAX_INSTRUCTIONS + 1];  /* and was executed so many times before */
    bool marked[MAX_INSTRUCTIONS + 1];      /* the node or the list is not as it was before */
};
pid_t begin_process(void);
void reach(pid_t pid, int *status);
struct course *follow(struct node *node, const struct change *change);
void kill_after(struct node *node, const struct change *change, const struct course *course,
                uint32_t instructions);

/* aftermath.c: the conditions that must hold after a death. */
void check_all(struct node *node);

#endif
