#ifndef ZG_CCURL_SHIM_H
#define ZG_CCURL_SHIM_H

#include <curl/curl.h>
#include <dlfcn.h>

#endif
