/* Data that distinguishes the GPUs of a node. */
#ifndef NVSHARE_EMULATOR_NVML_IDENTITY_H
#define NVSHARE_EMULATOR_NVML_IDENTITY_H

#include <nvml.h>
#include <stdbool.h>

#include "model/profile.h"

enum { SERIAL_BYTES = 14 };

/* Thirteen digits, made from the UUID. */
void serial_number(const struct gpu_profile *profile, char serial[SERIAL_BYTES]);

/* The UUID in binary; false if that of the profile is not of the form GPU-xxxxxxxx-xxxx-…. */
bool uuid_bytes(const struct gpu_profile *profile,
                unsigned char bytes[NVML_DEVICE_UUID_BINARY_LEN]);

#endif
