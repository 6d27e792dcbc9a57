/* The first instructions of every gated call: is the gate open, is there budget left, then on to
 * the driver.
 *
 * Where calls are marked (gate.h), a gate is never open to this first look. The call then marks its
 * thread, looks again, and has to come back from the driver to take the mark back. So its arguments
 * on the stack are copied for the driver. That is twelve instructions more for cuLaunchKernel, and
 * none where calls are not marked. (A second table of pointers for the last jump was fourteen.)
 *
 * In C this would be gate_is_open() and a tail call, and on other machines it is. On x86-64 GCC
 * moves all arguments that lie on the stack (five of cuLaunchKernel's eleven) out of the way and
 * back again, which costs three times what the gate itself does. Written out, nothing is moved, and
 * a stack trace taken in the driver shows the program's own frame.
 *
 * With NVSHARE_PORTABLE_GATE the C version is used here as well, so that it can be tested. */
#ifndef NVSHARE_GATE_ENTRY_H
#define NVSHARE_GATE_ENTRY_H

#include <stddef.h>

#include "gate.h"
#include "lookup/driver.h"

#if defined(__x86_64__) && !defined(NVSHARE_PORTABLE_GATE)

_Static_assert(offsetof(struct gate, open) == 0 && sizeof(bool) == 1, "read below");
_Static_assert(offsetof(struct gate, open_to_marked) == 1, "read below");
_Static_assert(offsetof(struct gate_thread, gate) == 0, "read below");
_Static_assert(offsetof(struct gate_thread, budget) == 8, "counted below");
_Static_assert(offsetof(struct gate_thread, inside) == 16 && sizeof(long) == 8, "counted below");

/* Uses only registers that hold no argument. `slot` is a number, since this is text to the
 * compiler, and so is `words`: how many arguments are on the stack. Each is of eight bytes, as
 * wrappers.c asserts. With the return address, an odd number of them keeps the stack aligned to
 * sixteen; an even number needs one more. */
#define GATE_ENTRY(name, slot, words, parameters, arguments)                                       \
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
            "je 1f\n"                                                                              \
            "subq $1, %fs:8(%rax)\n"                                                               \
            "js slow_" #name "\n"                                                                  \
            "jmp *(real + " #slot ")(%rip)\n"                                                      \
            "1: addq $1, %fs:16(%rax)\n"                                                           \
            "cmpb $0, 1(%r11)\n"                                                                   \
            "je 2f\n"                                                                              \
            "subq $1, %fs:8(%rax)\n"                                                               \
            "js 2f\n"                                                                              \
            ".if !(" #words " & 1)\n"                                                              \
            "subq $8, %rsp\n"                                                                      \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            ".endif\n"                                                                             \
            ".rept " #words "\n"                                                                   \
            "pushq (8 * (" #words " | 1))(%rsp)\n"                                                 \
            ".cfi_adjust_cfa_offset 8\n"                                                           \
            ".endr\n"                                                                              \
            "call *(real + " #slot ")(%rip)\n"                                                     \
            "addq $(8 * (" #words " | 1)), %rsp\n"                                                 \
            ".cfi_adjust_cfa_offset -8 * (" #words " | 1)\n"                                       \
            "movq gate_thread@gottpoff(%rip), %rcx\n"                                              \
            "subq $1, %fs:16(%rcx)\n"                                                              \
            "ret\n"                                                                                \
            "2: subq $1, %fs:16(%rax)\n"                                                           \
            "jmp slow_" #name "\n"                                                                 \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection")

#else

#define GATE_ENTRY(name, slot, words, parameters, arguments)                                       \
    _Static_assert(offsetof(struct driver_calls, name) == slot, #name);                            \
    CUresult name parameters {                                                                     \
        if (gate_is_open())                                                                        \
            return real.name arguments;                                                            \
        if (!gate_is_open_to_marked())                                                             \
            return slow_##name arguments;                                                          \
        CUresult result = real.name arguments;                                                     \
        gate_leave();                                                                              \
        return result;                                                                             \
    }

#endif
#endif
