/* fork: the child begins clean, whatever the parent has done before. */
#ifndef NVSHARE_FORK_H
#define NVSHARE_FORK_H

/* From now on, children forget what is the parent's. May be called again. */
void fork_prepare(void);

#endif
