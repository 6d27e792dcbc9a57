/* fork: the child starts clean, whatever the parent has done before. */
#ifndef NVSHARE_FORK_H
#define NVSHARE_FORK_H

/* From now on, children forget the parent's state. May be called again. */
void fork_prepare(void);

#endif
