/* Binds to the versions of the C library's functions that glibc 2.17 has, whatever glibc is built
 * against.
 *
 * libnvshare.so and the emulated driver are loaded into programs in other people's images, and an
 * image is often older than the machine it runs on. If its glibc lacks the version of one function,
 * the program does not start. The workloads come in the same wheel, which installs only where all
 * of it loads. The linker takes the newest version of every function, and glibc 2.34 gave a new one
 * to all that moved into libc.so.6 from libpthread and libdl, although nothing else about them
 * changed. The older versions are still there for programs that were linked long ago. Here each is
 * requested by its name.
 *
 * The build puts this file before every source file. A function that is missing here, or that glibc
 * 2.17 does not have at all, is named by tests/unit/native/test_old_glibc.py. old_calls.h has those
 * that are calls to the kernel instead. */
#ifndef NVSHARE_OLD_GLIBC_H
#define NVSHARE_OLD_GLIBC_H

#if defined(__x86_64__)
#define OLD_GLIBC_AS(name, old, version) __asm__(".symver " #name ", " #old "@GLIBC_" #version)
#elif defined(__aarch64__)
/* The first glibc for this machine was 2.17, and all its functions are of that version. */
#define OLD_GLIBC_AS(name, old, version) __asm__(".symver " #name ", " #old "@GLIBC_2.17")
#else
#error "the versions of this machine's C library are not known"
#endif

#define OLD_GLIBC(name, version) OLD_GLIBC_AS(name, name, version)

/* Moved into libc.so.6. */
OLD_GLIBC(dladdr, 2.2.5);
OLD_GLIBC(dlclose, 2.2.5);
OLD_GLIBC(dlerror, 2.2.5);
OLD_GLIBC(dlinfo, 2.3.3);
OLD_GLIBC(dlopen, 2.2.5);
#ifndef NVSHARE_HAS_OWN_DLSYM
OLD_GLIBC(dlsym, 2.2.5);
#endif
OLD_GLIBC(pthread_attr_getstack, 2.2.5);
OLD_GLIBC(pthread_attr_setguardsize, 2.2.5);
OLD_GLIBC(pthread_attr_setstack, 2.2.5);
OLD_GLIBC(pthread_attr_setstacksize, 2.2.5);
OLD_GLIBC(pthread_condattr_setclock, 2.3.3);
OLD_GLIBC(pthread_create, 2.2.5);
OLD_GLIBC(pthread_detach, 2.2.5);
OLD_GLIBC(pthread_getattr_np, 2.2.5);
OLD_GLIBC(pthread_getname_np, 2.12);
OLD_GLIBC(pthread_getspecific, 2.2.5);
OLD_GLIBC(pthread_join, 2.2.5);
OLD_GLIBC(pthread_key_create, 2.2.5);
OLD_GLIBC(pthread_key_delete, 2.2.5);
OLD_GLIBC(pthread_kill, 2.2.5);
OLD_GLIBC(pthread_mutex_consistent, 2.12);
OLD_GLIBC(pthread_mutex_timedlock, 2.2.5);
OLD_GLIBC(pthread_mutex_trylock, 2.2.5);
OLD_GLIBC(pthread_mutexattr_destroy, 2.2.5);
OLD_GLIBC(pthread_mutexattr_init, 2.2.5);
OLD_GLIBC(pthread_mutexattr_setpshared, 2.2.5);
OLD_GLIBC(pthread_mutexattr_setrobust, 2.12);
OLD_GLIBC(pthread_mutexattr_settype, 2.2.5);
OLD_GLIBC(pthread_once, 2.2.5);
OLD_GLIBC(pthread_rwlock_destroy, 2.2.5);
OLD_GLIBC(pthread_rwlock_init, 2.2.5);
OLD_GLIBC(pthread_rwlock_rdlock, 2.2.5);
OLD_GLIBC(pthread_rwlock_unlock, 2.2.5);
OLD_GLIBC(pthread_rwlock_wrlock, 2.2.5);
OLD_GLIBC(pthread_setname_np, 2.12);
OLD_GLIBC(pthread_setspecific, 2.2.5);
OLD_GLIBC(pthread_sigmask, 2.2.5);
OLD_GLIBC(pthread_timedjoin_np, 2.3.3);
OLD_GLIBC(pthread_tryjoin_np, 2.3.3);
OLD_GLIBC(sem_destroy, 2.2.5);
OLD_GLIBC(sem_init, 2.2.5);
OLD_GLIBC(sem_post, 2.2.5);
OLD_GLIBC(sem_timedwait, 2.2.5);
OLD_GLIBC(sem_trywait, 2.2.5);
OLD_GLIBC(sem_wait, 2.2.5);

/* Does not set errno from glibc 2.29 on. No code here reads that. */
OLD_GLIBC(log, 2.2.5);

/* From glibc 2.38 on, the headers mean functions that also read binary numbers ("0b1"). No input
 * here has them. */
OLD_GLIBC_AS(__isoc23_scanf, __isoc99_scanf, 2.7);
OLD_GLIBC_AS(__isoc23_sscanf, __isoc99_sscanf, 2.7);
OLD_GLIBC_AS(__isoc23_strtol, strtol, 2.2.5);
OLD_GLIBC_AS(__isoc23_strtoll, strtoll, 2.2.5);
OLD_GLIBC_AS(__isoc23_strtoul, strtoul, 2.2.5);
OLD_GLIBC_AS(__isoc23_strtoull, strtoull, 2.2.5);

#endif
