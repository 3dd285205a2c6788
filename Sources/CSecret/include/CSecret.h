#ifndef ZG_CSECRET_H
#define ZG_CSECRET_H

#include <stdbool.h>

/* libsecret is opened at first use (dlopen), so that only commands that ask a desktop keyring load
   it and its GLib. This header names what Swift needs in plain types; CSecret.c holds it against
   libsecret's own headers. */

/// Opens libsecret. Returns false when the library is not installed.
bool zg_secret_load(void);

#endif
