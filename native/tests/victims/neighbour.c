/* Another preloaded library, which wraps one function and asks for the next. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int (*set_current)(void *);

__attribute__((constructor)) static void tell(void) {
    Dl_info info = {0};
    void *next = dlsym(RTLD_NEXT, "cuCtxSetCurrent");
    if (next && dladdr(next, &info))
        printf("neighbour: next cuCtxSetCurrent is in %s\n", strrchr(info.dli_fname, '/') + 1);
    fflush(stdout);
}
