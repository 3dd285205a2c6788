#ifndef ZG_CMICROHTTPD_SHIM_H
#define ZG_CMICROHTTPD_SHIM_H

#include <microhttpd.h>

#endif
