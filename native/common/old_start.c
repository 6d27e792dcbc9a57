/* How a program starts where its glibc is older than the one it was built with.
 *
 * The start-up code that every program is linked with calls __libc_start_main of glibc 2.34 or
 * later. The linker redirects it here (--wrap), and the function of that name in glibc 2.17 does
 * the rest. An older glibc expects the address of code that runs constructors, which newer start-up
 * code leaves to glibc. So there, programs that are linked with this run no constructors of their
 * own. They have none. */
typedef int main_function(int, char **, char **);

#if defined(__x86_64__)
__asm__(".symver old_libc_start_main, __libc_start_main@GLIBC_2.2.5");
#else
__asm__(".symver old_libc_start_main, __libc_start_main@GLIBC_2.17");
#endif
int old_libc_start_main(main_function *, int, char **, void (*)(void), void (*)(void),
                        void (*)(void), void *);
int __wrap___libc_start_main(main_function *, int, char **, void (*)(void), void (*)(void),
                             void (*)(void), void *);

int __wrap___libc_start_main(main_function *main, int count, char **arguments, void (*init)(void),
                             void (*fini)(void), void (*at_exit)(void), void *stack_end) {
    return old_libc_start_main(main, count, arguments, init, fini, at_exit, stack_end);
}
