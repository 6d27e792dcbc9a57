/* Names and defaults of the variables that native code reads. Reads none itself.
 *
 * Generated from protocol/environment.toml by `python -m protocol.generate`.
 * Do not edit. */
#ifndef NVSHARE_ENVIRONMENT_H
#define NVSHARE_ENVIRONMENT_H

#define ENVIRONMENT_SOCKET_DIR          "NVSHARE_SOCKET_DIR"
#define ENVIRONMENT_LOG                 "NVSHARE_LOG"
#define DEFAULT_LOG                     "warn"
#define ENVIRONMENT_LOG_FILE            "NVSHARE_LOG_FILE"
#define ENVIRONMENT_REQUIRE             "NVSHARE_REQUIRE"
#define DEFAULT_REQUIRE                 "0"
#define ENVIRONMENT_DISABLE             "NVSHARE_DISABLE"
#define DEFAULT_DISABLE                 "0"
#define ENVIRONMENT_GPU_MEMORY_LIMIT    "NVSHARE_GPU_MEMORY_LIMIT"
#define ENVIRONMENT_GPU_CORE_LIMIT      "NVSHARE_GPU_CORE_LIMIT"
#define ENVIRONMENT_GPU_BURST           "NVSHARE_GPU_BURST"
#define DEFAULT_GPU_BURST               "0"
#define ENVIRONMENT_GPU_PRIORITY        "NVSHARE_GPU_PRIORITY"
#define DEFAULT_GPU_PRIORITY            "normal"
#define ENVIRONMENT_ALLOCATION          "NVSHARE_ALLOCATION"
#define DEFAULT_ALLOCATION              "managed"
#define ENVIRONMENT_OVERSUBSCRIBE       "NVSHARE_OVERSUBSCRIBE"
#define DEFAULT_OVERSUBSCRIBE           "0"
#define ENVIRONMENT_GROUP               "NVSHARE_GROUP"
#define ENVIRONMENT_EMULATOR_NODE       "NVSHARE_EMULATOR_NODE"
#define ENVIRONMENT_EMULATOR_SPEED      "NVSHARE_EMULATOR_SPEED"
#define DEFAULT_EMULATOR_SPEED          "1"
#define ENVIRONMENT_EMULATOR_MODEL      "NVSHARE_EMULATOR_MODEL"
#define DEFAULT_EMULATOR_MODEL          "on"
#define ENVIRONMENT_EMULATOR_KERNEL_US  "NVSHARE_EMULATOR_KERNEL_US"
#define ENVIRONMENT_EMULATOR_HOST_LIMIT "NVSHARE_EMULATOR_HOST_LIMIT"

#endif
