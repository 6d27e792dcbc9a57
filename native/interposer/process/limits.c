/* Generated from protocol/limits.toml by `python -m protocol.generate`: do not edit. */
#include "limits.h"

#include "environment.h"
#include "variables.h"

static const struct variable_choice choices_of_priority[] = {
    {"high", LIMIT_HIGH},
    {"normal", 0},
    {"low", LIMIT_LOW},
    {NULL, 0},
};

void limits_read(struct limits *limits) {
    bool *wrong = &limits->is_wrong;
    limits->memory_limit = variable_amount(ENVIRONMENT_GPU_MEMORY_LIMIT, wrong);
    limits->compute_percent = (uint32_t)variable_number(ENVIRONMENT_GPU_CORE_LIMIT, 1, 100, wrong);
    limits->flags |= variable_flag(ENVIRONMENT_GPU_BURST) ? LIMIT_BURST : 0;
    limits->flags |= variable_choice(ENVIRONMENT_GPU_PRIORITY, choices_of_priority, wrong);
}

void limits_tell(const struct limits *limits, struct frame_hello *hello) {
    hello->memory_limit = limits->memory_limit;
    hello->compute_percent = limits->compute_percent;
    hello->limit_flags = limits->flags;
}
