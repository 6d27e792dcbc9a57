#include "api/flavour.h"

_Thread_local bool emulator_per_thread_default;
