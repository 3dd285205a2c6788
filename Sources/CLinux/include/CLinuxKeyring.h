#ifndef ZG_CLINUX_KEYRING_H
#define ZG_CLINUX_KEYRING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel's keys (keyrings(7)), by system call: glibc has no wrappers, and `syscall` is
   variadic, which Swift cannot call. Each function returns -1 with errno on failure. */

/// The session keyring (KEY_SPEC_SESSION_KEYRING).
enum { ZG_SESSION_KEYRING = -3 };
/// The user keyring, shared by all logins of a uid (KEY_SPEC_USER_KEYRING).
enum { ZG_USER_KEYRING = -4 };
/// The keyring used by logins without a session keyring (KEY_SPEC_USER_SESSION_KEYRING).
enum { ZG_USER_SESSION_KEYRING = -5 };

/// Returns the serial number of a special keyring (KEYCTL_GET_KEYRING_ID); creates none.
int32_t zg_keyring_serial(int32_t keyring);

/// Adds a key of type "user" to the process keyring (add_key(2)), which is deleted with this
/// process unless the key is linked elsewhere. The payload is copied straight into the kernel.
/// Returns the serial number.
int32_t zg_key_add(const char *_Nonnull description, const void *_Nonnull payload, size_t count);

/// Sets a key's lifetime in seconds, at least one (KEYCTL_SET_TIMEOUT).
int zg_key_set_timeout(int32_t key, uint32_t seconds);

/// Sets a key's permissions (KEYCTL_SETPERM).
int zg_key_set_permissions(int32_t key, uint32_t permissions);

/// Links a key into a keyring and replaces one with the same description (KEYCTL_LINK).
int zg_key_link(int32_t key, int32_t keyring);

/// Unlinks a key from the process keyring (KEYCTL_UNLINK).
int zg_key_unstage(int32_t key);

/// Searches a keyring and those linked there for a key of type "user" (KEYCTL_SEARCH). Returns the
/// serial number.
int32_t zg_key_search(int32_t keyring, const char *_Nonnull description);

/// Copies at most `count` bytes of a payload, or of the serial numbers in a keyring (KEYCTL_READ).
/// Returns the whole length.
ssize_t zg_key_read(int32_t key, void *_Nonnull buffer, size_t count);

/// Copies "type;uid;gid;permissions;description" and a NUL, or nothing if `count` is too small
/// (KEYCTL_DESCRIBE). Returns the whole length.
ssize_t zg_key_describe(int32_t key, char *_Nonnull buffer, size_t count);

/// Invalidates a key for every process (KEYCTL_INVALIDATE, or KEYCTL_REVOKE on older kernels).
int zg_key_invalidate(int32_t key);

#endif
