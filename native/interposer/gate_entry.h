/* The first instructions of every gated call: is the gate open, is there budget left, then on to the
 * driver.
 *
 * In C this would be gate_is_open() and a tail call, and elsewhere it is. On x86-64 GCC moves all
 * arguments that lie on the stack (five of cuLaunchKernel's eleven) out of the way and back again, which
 * costs three times what the gate itself does. Written out, nothing is moved, and whoever looks at the
 * stack from the driver sees the program's own frame.
 *
 * With NVSHARE_PORTABLE_GATE the C version is used here as well, so that it can be tested. */
#ifndef NVSHARE_GATE_ENTRY_H
#define NVSHARE_GATE_ENTRY_H

#include <stddef.h>

#include "driver.h"
#include "gate.h"

#if defined(__x86_64__) && !defined(NVSHARE_PORTABLE_GATE)

_Static_assert(offsetof(struct gate, open) == 0 && sizeof(bool) == 1, "read below");
_Static_assert(offsetof(struct gate_thread, gate) == 0, "read below");
_Static_assert(offsetof(struct gate_thread, budget) == 8, "counted below");

/* Only registers are used that no argument is in. `slot` is a number, since this is text to the
 * compiler. */
#define GATE_ENTRY(name, slot, parameters, arguments)                                              \
    _Static_assert(offsetof(struct driver_calls, name) == slot, #name);                            \
    __asm__(".pushsection .text\n"                                                                 \
            ".balign 16\n"                                                                         \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n" #name ":\n"                                             \
            ".cfi_startproc\n"                                                                     \
            "endbr64\n"                                                                            \
            "movq gate_thread@gottpoff(%rip), %rax\n"                                              \
            "movq %fs:(%rax), %r11\n"                                                              \
            "cmpb $0, (%r11)\n"                                                                    \
            "je slow_" #name "\n"                                                                  \
            "subq $1, %fs:8(%rax)\n"                                                               \
            "js slow_" #name "\n"                                                                  \
            "jmp *(real + " #slot ")(%rip)\n"                                                      \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection")

#else

#define GATE_ENTRY(name, slot, parameters, arguments)                                              \
    _Static_assert(offsetof(struct driver_calls, name) == slot, #name);                            \
    CUresult name parameters {                                                                     \
        if (gate_is_open())                                                                        \
            return real.name arguments;                                                            \
        return slow_##name arguments;                                                              \
    }

#endif
#endif
