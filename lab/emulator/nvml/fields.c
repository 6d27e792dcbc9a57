/* The numbered fields of a GPU that have a meaning here. Monitors ask for dozens, and expect a
 * refusal for most of them, one by one. */
#include "power.h"
#include "utilization.h"

static nvmlReturn_t give_uint(nvmlFieldValue_t *field, uint64_t value) {
    field->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    field->value.ullVal = 0;
    field->value.uiVal = (unsigned int)value;
    return NVML_SUCCESS;
}

static nvmlReturn_t give_ull(nvmlFieldValue_t *field, uint64_t value) {
    field->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
    field->value.ullVal = value;
    return NVML_SUCCESS;
}

static nvmlReturn_t give_power(const struct look *look, nvmlFieldValue_t *field) {
    switch (field->fieldId) {
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT: return give_uint(field, power_mw(look->gpu, utilization(look)));
    default: return give_uint(field, look->gpu->profile.power_limit_mw);
    }
}

static bool is_error_count(unsigned int id) {
    return id >= NVML_FI_DEV_ECC_SBE_VOL_TOTAL && id <= NVML_FI_DEV_RETIRED_PENDING;
}

static nvmlReturn_t give_field(const struct look *look, nvmlFieldValue_t *field) {
    if (is_error_count(field->fieldId))
        return give_ull(field, 0);
    switch (field->fieldId) {
    case NVML_FI_DEV_ECC_CURRENT:
    case NVML_FI_DEV_ECC_PENDING: return give_uint(field, NVML_FEATURE_ENABLED);
    case NVML_FI_DEV_GET_GPU_RECOVERY_ACTION:
        return give_uint(field, look->gpu->needs_reset ? NVML_GPU_RECOVERY_ACTION_GPU_RESET
                                                       : NVML_GPU_RECOVERY_ACTION_NONE);
    case NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION: return give_ull(field, energy_mj(look));
    case NVML_FI_DEV_NVLINK_LINK_COUNT:
    case NVML_FI_DEV_PCIE_REPLAY_COUNTER:
    case NVML_FI_DEV_PCIE_REPLAY_ROLLOVER_COUNTER: return give_uint(field, 0);
    case NVML_FI_DEV_POWER_AVERAGE:
    case NVML_FI_DEV_POWER_INSTANT:
    case NVML_FI_DEV_POWER_MIN_LIMIT:
    case NVML_FI_DEV_POWER_MAX_LIMIT:
    case NVML_FI_DEV_POWER_DEFAULT_LIMIT:
    case NVML_FI_DEV_POWER_CURRENT_LIMIT:
    case NVML_FI_DEV_POWER_REQUESTED_LIMIT: return give_power(look, field);
    case NVML_FI_DEV_PCIE_COUNT_TX_BYTES: return give_ull(field, look->gpu->out_bytes);
    case NVML_FI_DEV_PCIE_COUNT_RX_BYTES: return give_ull(field, look->gpu->in_bytes);
    default: return NVML_ERROR_NOT_SUPPORTED;
    }
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    LOOK_AT_GPU(device, values && count > 0);
    for (int i = 0; i < count; i++) {
        values[i].timestamp = (long long)sample_time(&look, LATENESS);
        values[i].latencyUsec = 0;
        values[i].nvmlReturn = give_field(&look, &values[i]);
    }
    return NVML_SUCCESS;
}
