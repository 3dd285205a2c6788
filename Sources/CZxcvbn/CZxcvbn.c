#include "CZxcvbn.h"

#include <zxcvbn.h>

#include <dlfcn.h>
#include <malloc.h>

double zg_passphrase_bits(const char *passphrase) {
    void *library = dlopen("libzxcvbn.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return -1;
    __typeof__(&ZxcvbnMatch) match;
    *(void **)&match = dlsym(library, "ZxcvbnMatch");
    if (match == NULL)
        return -1;
    /* Any value but 0 overwrites freed memory. */
    mallopt(M_PERTURB, 1);
    return match(passphrase, NULL, NULL);
}
