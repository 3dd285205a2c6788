#include "Library.h"

#include <dlfcn.h>
#include <pthread.h>

struct zg_notify_functions zg_notify_functions;

static bool loaded;

static void load_once(void) {
    /* Never closed: GLib's types and threads do not survive that. */
    void *library = dlopen("libgio-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    /* dlsym also finds GLib's functions, because it searches the library's dependencies. */
#define ZG_RESOLVE(function)                                                                        \
    *(void **)&gio.function = dlsym(library, #function);                                            \
    if (gio.function == NULL)                                                                       \
        return;
    ZG_FUNCTIONS(ZG_RESOLVE)
    loaded = true;
}

bool zg_notify_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_once);
    return loaded;
}
