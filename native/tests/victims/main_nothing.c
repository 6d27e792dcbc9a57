/* A program that does nothing itself: a library it is linked to does, before main. */
int main(void) {
    return 0;
}
