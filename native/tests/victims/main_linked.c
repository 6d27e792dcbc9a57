/* Victims whose functions the linker finds. As a program it is linked to the driver; as a library it is
 * either a plugin (-DPLUGIN), or calls everything from its constructor (-DCONSTRUCTOR). */
#include "victims.h"

static void *find(const struct victim *victim) {
    for (const struct linked *l = linked; l->name; l++)
        if (strcmp(l->name, victim->name) == 0)
            return l->function;
    return NULL;
}

#if defined(PLUGIN)
int plugin_run(void) {
    return victims_run("plugin", find);
}
#elif defined(CONSTRUCTOR)
__attribute__((constructor)) static void start(void) {
    victims_run("constructor", find);
}
#else
int main(void) {
    return victims_run("linked", find);
}
#endif
