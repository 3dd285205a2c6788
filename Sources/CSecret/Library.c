#include "Library.h"

#include <dlfcn.h>
#include <pthread.h>

struct zg_secret_functions zg_secret_functions;

static bool loaded;

static void load_once(void) {
    /* Never closed: GLib's types and threads do not survive that. */
    /* Lazily: GLib and GIO refer to thousands of functions, few of which are called here. */
    void *library = dlopen("libsecret-1.so.0", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return;
    /* dlsym also finds GLib's functions, because it searches the library's dependencies. */
#define ZG_RESOLVE(function)                                                                        \
    *(void **)&api.function = dlsym(library, #function);                                            \
    if (api.function == NULL)                                                                       \
        return;
    ZG_FUNCTIONS(ZG_RESOLVE)
    loaded = true;
}

bool zg_secret_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return loaded;
}
