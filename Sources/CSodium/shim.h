#ifndef ZG_CSODIUM_SHIM_H
#define ZG_CSODIUM_SHIM_H

#include <sodium.h>

#endif
