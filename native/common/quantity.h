/* An amount of memory as text: "4Gi", "1500Mi", "2G", "1.5Gi", "1073741824". As in Kubernetes, and
 * as in src/nvshare/quantity.py. */
#ifndef NVSHARE_QUANTITY_H
#define NVSHARE_QUANTITY_H

#include <stdint.h>

/* Returns 0, or -EINVAL if the text is no amount, or -ERANGE if it is more than 64 bits hold.
 * A fraction of a byte counts as a whole one. */
int quantity_parse(const char *text, uint64_t *bytes);

/* Writes an amount for people: "1.5 GiB", "20.0 MiB", "512 bytes". The decimal point does not
 * depend on the locale. */
enum { QUANTITY_TEXT = 32 };
void quantity_show(uint64_t bytes, char text[QUANTITY_TEXT]);

#endif
