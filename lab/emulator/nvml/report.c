/* The state of a node, as JSON. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "model/node.h"
#include "model/recover.h"
#include "model/residency.h"
#include "model/scrub.h"

static void write_gpu(struct json *json, const struct gpu *gpu, uint32_t index) {
    json_open(json, NULL, '{');
    json_number(json, "index", index);
    json_string(json, "uuid", gpu->profile.uuid);
    json_number(json, "clock", gpu->clock);
    json_number(json, "plain_bytes", gpu->plain_bytes);
    json_number(json, "context_bytes", gpu->context_bytes);
    json_number(json, "resident_blocks", gpu->resident_blocks);
    json_number(json, "chunks", gpu->chunks);
    json_number(json, "surplus_bytes", gpu->surplus * BLOCK_BYTES);
    json_number(json, "free_bytes", gpu_free_bytes(gpu));
    json_number(json, "scrubbing_bytes", gpu_dirty_bytes(gpu));
    json_number(json, "stolen_bytes", gpu->stolen_bytes);
    json_number(json, "switches", gpu->switches);
    json_number(json, "faults", gpu->faults);
    json_number(json, "evictions", gpu->evictions);
    json_number(json, "reclaims", gpu->reclaims);
    json_number(json, "cancelled", gpu->cancelled);
    json_number(json, "in_bytes", gpu->in_bytes);
    json_number(json, "out_bytes", gpu->out_bytes);
    json_number(json, "moved_in_bytes", gpu->moved_in_bytes);
    json_number(json, "moved_out_bytes", gpu->moved_out_bytes);
    json_number(json, "moving_ns", gpu->moving_ns);
    json_number(json, "busy_ns", gpu->busy_total_ns);
    json_close(json, '}');
}

static void write_account(struct json *json, const struct account *account) {
    json_open(json, NULL, '{');
    json_number(json, "plain_bytes", account->plain_bytes);
    json_number(json, "contexts", account->contexts);
    json_number(json, "context_bytes", account->context_bytes);
    json_number(json, "resident_bytes", account->resident_blocks * BLOCK_BYTES);
    json_number(json, "chunk_bytes", account->chunks * BLOCK_BYTES);
    json_number(json, "compute_ns", account->compute_ns);
    json_number(json, "fault_ns", account->fault_ns);
    json_number(json, "in_bytes", account->in_bytes);
    json_number(json, "out_bytes", account->out_bytes);
    json_number(json, "kernels", account->kernels);
    json_close(json, '}');
}

static void write_process(struct json *json, const struct slot *slot, uint32_t gpu_count) {
    json_open(json, NULL, '{');
    json_number(json, "pid", (uint64_t)slot->pid);
    json_string(json, "name", slot->name);
    json_number(json, "host_bytes", slot->host_blocks * BLOCK_BYTES);
    json_number(json, "handles", slot->resources[RESOURCE_HANDLES]);
    json_number(json, "mappings", slot->resources[RESOURCE_MAPPINGS]);
    json_number(json, "reservations", slot->resources[RESOURCE_RESERVATIONS]);
    json_number(json, "registrations", slot->resources[RESOURCE_REGISTRATIONS]);
    json_number(json, "host_allocations", slot->resources[RESOURCE_HOST]);
    json_open(json, "gpus", '[');
    for (uint32_t g = 0; g < gpu_count; g++)
        write_account(json, &slot->accounts[g]);
    json_close(json, ']');
    json_close(json, '}');
}

static void write_node(struct json *json, struct node *node, uint64_t now) {
    json_open(json, NULL, '{');
    json_number(json, "clock_ns", now);
    json_millionths(json, "speed", (uint64_t)(node->profile.speed * 1e6 + 0.5));
    json_number(json, "deaths", node->deaths);
    json_number(json, "recoveries", node->recoveries);
    json_number(json, "host_bytes", node->host_blocks * BLOCK_BYTES);
    json_string(json, "difference", node_difference(node));
    json_open(json, "gpus", '[');
    for (uint32_t g = 0; g < node->profile.gpu_count; g++)
        write_gpu(json, &node->gpus[g], g);
    json_close(json, ']');
    json_open(json, "processes", '[');
    for (uint32_t s = 0; s < node->slot_limit; s++)
        if (node->slots[s].in_use)
            write_process(json, &node->slots[s], node->profile.gpu_count);
    json_close(json, ']');
    json_close(json, '}');
}

static nvmlReturn_t give(const struct json *json, char *buffer, unsigned int *bytes) {
    if (json->failed)
        return NVML_ERROR_MEMORY;
    unsigned int room = buffer ? *bytes : 0;
    *bytes = (unsigned int)json->length + 1;
    if (*bytes > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(buffer, json->text, *bytes);
    return NVML_SUCCESS;
}

nvmlReturn_t nvshareEmulatorReport(const char *folder, char *buffer, unsigned int *bytes) {
    if (!folder || !bytes)
        return NVML_ERROR_INVALID_ARGUMENT;
    struct node *node;
    char why[4096];
    if (node_attach_folder(folder, &node, why, sizeof why) < 0) {
        fprintf(stderr, "nvshare emulator: %s\n", why);
        return NVML_ERROR_NOT_FOUND;
    }
    struct json json = {0};
    uint64_t now = node_lock(node);
    write_node(&json, node, now);
    node_unlock(node);
    node_detach(node);
    nvmlReturn_t result = give(&json, buffer, bytes);
    free(json.text);
    return result;
}
