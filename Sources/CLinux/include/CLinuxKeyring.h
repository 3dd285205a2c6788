#ifndef ZG_CLINUX_KEYRING_H
#define ZG_CLINUX_KEYRING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's keys (keyrings(7)), by system call: glibc has no wrappers, and `syscall` is variadic in
   C, which Swift cannot call. Each returns -1 with errno on failure. */

/// The session keyring (KEY_SPEC_SESSION_KEYRING).
enum { ZG_SESSION_KEYRING = -3 };
/// The user keyring, shared by all logins of a uid (KEY_SPEC_USER_KEYRING).
enum { ZG_USER_KEYRING = -4 };
/// What stands in for a session keyring where a login has none (KEY_SPEC_USER_SESSION_KEYRING).
enum { ZG_USER_SESSION_KEYRING = -5 };

/// The serial number behind a special keyring id (KEYCTL_GET_KEYRING_ID); makes none.
int32_t zg_keyring_serial(int32_t keyring);

/// Makes a key of type "user" in the process keyring (add_key(2)), from where it goes with this
/// process unless it is linked elsewhere. The payload is copied straight into the kernel.
/// Returns the serial number.
int32_t zg_key_add(const char *_Nonnull description, const void *_Nonnull payload, size_t count);

/// Has the kernel end a key after so many seconds, at least one (KEYCTL_SET_TIMEOUT).
int zg_key_set_timeout(int32_t key, uint32_t seconds);

/// Sets who may do what with a key (KEYCTL_SETPERM).
int zg_key_set_permissions(int32_t key, uint32_t permissions);

/// Links a key into a keyring, in place of one with the same description (KEYCTL_LINK).
int zg_key_link(int32_t key, int32_t keyring);

/// Takes a key out of the process keyring (KEYCTL_UNLINK).
int zg_key_unstage(int32_t key);

/// Looks for a key of type "user" in a keyring and those linked there (KEYCTL_SEARCH).
/// Returns the serial number.
int32_t zg_key_search(int32_t keyring, const char *_Nonnull description);

/// Copies a payload, or the serial numbers in a keyring, as far as `count` reaches (KEYCTL_READ).
/// Returns the whole length.
ssize_t zg_key_read(int32_t key, void *_Nonnull buffer, size_t count);

/// Copies "type;uid;gid;permissions;description" and a NUL, or nothing where `count` does not reach
/// (KEYCTL_DESCRIBE). Returns the whole length.
ssize_t zg_key_describe(int32_t key, char *_Nonnull buffer, size_t count);

/// Ends a key at once for everybody (KEYCTL_INVALIDATE, or KEYCTL_REVOKE where that is not to be had).
int zg_key_invalidate(int32_t key);

#endif
