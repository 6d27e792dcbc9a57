/* An amount of memory in words: "4Gi", "1500Mi", "2G", "1.5Gi", "1073741824". As in Kubernetes,
 * and as in src/nvshare/quantity.py. */
#ifndef NVSHARE_QUANTITY_H
#define NVSHARE_QUANTITY_H

#include <stdint.h>

/* Returns 0, or -EINVAL if the text is no amount, or -ERANGE if it is more than 64 bits hold.
 * A fraction of a byte counts as a whole one. */
int quantity_parse(const char *text, uint64_t *bytes);

#endif
