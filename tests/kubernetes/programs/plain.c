/* A program of an image without glibc: says that it runs. */
#include <stdio.h>

int main(void) {
    puts("the program runs");
    return 0;
}
