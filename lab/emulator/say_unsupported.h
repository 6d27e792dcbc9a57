/* Tells the user, once per name, that a call is not implemented. */
#ifndef NVSHARE_EMULATOR_SAY_UNSUPPORTED_H
#define NVSHARE_EMULATOR_SAY_UNSUPPORTED_H

/* Both must be string literals: the name is remembered, not copied. Any thread may call this. */
void emulator_say_unsupported(const char *name, const char *answer);

#endif
