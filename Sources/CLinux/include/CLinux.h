#ifndef ZG_CLINUX_H
#define ZG_CLINUX_H

#include <stdint.h>
#include <sys/types.h>

#include "CLinuxTerminal.h"

/// Forbids core dumps and `ptrace` by other processes of the user (prctl(2), PR_SET_DUMPABLE).
/// The calls are variadic in C, which Swift cannot call.
int zg_set_not_dumpable(void);

#endif
