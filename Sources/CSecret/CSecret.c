#include "CSecret.h"

#include <dlfcn.h>
#include <libsecret/secret.h>

bool zg_secret_load(void) {
    return dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL) != NULL;
}
