/* Asks for the driver where there is none, in every way, and prints the answers. */
#include <dlfcn.h>
#include <stdio.h>

static void ask(const char *how, void *handle) {
    dlerror();
    void *found = dlsym(handle, "cuLaunchKernel");
    const char *error = dlerror();
    printf("%s: %s, %s\n", how, found ? "found" : "not found", error ? "an error" : "no error");
    found = dlvsym(handle, "cuMemAlloc_v2", "LIBCUDA_1");
    printf("%s, by version: %s\n", how, found ? "found" : "not found");
}

int main(void) {
    ask("RTLD_DEFAULT", RTLD_DEFAULT);
    ask("RTLD_NEXT", RTLD_NEXT);
    ask("the program", dlopen(NULL, RTLD_NOW));
    printf("a function of our own: %s\n", dlsym(RTLD_DEFAULT, "printf") ? "found" : "not found");
    return 0;
}
