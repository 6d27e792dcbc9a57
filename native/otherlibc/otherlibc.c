/* What a program gets whose C library is not glibc, in the place of the interposer: one line in its
 * log. It runs as it would without nvshare.
 *
 * In containers the preloaded path has $LIB in it. glibc puts the name of a folder there; others, musl
 * among them, take it as it is, and find this in a folder of that very name. The interposer needs
 * glibc, and musl ends a program whose preloaded library asks for what it has not; so this asks for
 * nothing at all. */
#include <sys/syscall.h>

#if defined(__x86_64__)
static long call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static long call(long number, long a, long b, long c) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
                     x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#else
#error "say here how to call the kernel"
#endif

/* Once per container: what its first process starts would only repeat it. */
__attribute__((constructor)) static void say_so(void) {
    static const char line[] = "nvshare: warning: the programs of this image do not use glibc: "
                               "they run without sharing their GPU\n";
    if (call(SYS_getpid, 0, 0, 0) == 1)
        call(SYS_write, 2, (long)line, sizeof line - 1);
}
