/* What the process has and has to give back, for whoever looks for leaks: `nvshare emulate smi --json`
 * tells it of a process that lives. With NVSHARE_EMULATOR_BOOKS a process that ends adds a line of JSON
 * to that file, which says what it had not given back by then, and how many calls were made to fail (inject.h). */
#ifndef NVSHARE_EMULATOR_BOOKS_H
#define NVSHARE_EMULATOR_BOOKS_H

#include "driver.h"

void books_add(enum book book);
void books_remove(enum book book);

#endif
