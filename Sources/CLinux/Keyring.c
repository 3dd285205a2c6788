#define _GNU_SOURCE
#include "CLinuxKeyring.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(ZG_SESSION_KEYRING == KEY_SPEC_SESSION_KEYRING, "session keyring");
_Static_assert(ZG_USER_KEYRING == KEY_SPEC_USER_KEYRING, "user keyring");
_Static_assert(ZG_USER_SESSION_KEYRING == KEY_SPEC_USER_SESSION_KEYRING, "user session keyring");

int32_t zg_keyring_serial(int32_t keyring) {
    return (int32_t)syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, (long)keyring, 0L, 0L, 0L);
}

int32_t zg_key_add(const char *description, const void *payload, size_t count) {
    return (int32_t)syscall(SYS_add_key, "user", description, payload, count,
                            (long)KEY_SPEC_PROCESS_KEYRING);
}

int zg_key_set_timeout(int32_t key, uint32_t seconds) {
    /* Zero would remove the timeout. */
    if (seconds == 0) {
        errno = EINVAL;
        return -1;
    }
    return (int)syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, (long)key, (long)seconds, 0L, 0L);
}

int zg_key_set_permissions(int32_t key, uint32_t permissions) {
    return (int)syscall(SYS_keyctl, KEYCTL_SETPERM, (long)key, (long)permissions, 0L, 0L);
}

int zg_key_link(int32_t key, int32_t keyring) {
    return (int)syscall(SYS_keyctl, KEYCTL_LINK, (long)key, (long)keyring, 0L, 0L);
}

int zg_key_unstage(int32_t key) {
    return (int)syscall(SYS_keyctl, KEYCTL_UNLINK, (long)key, (long)KEY_SPEC_PROCESS_KEYRING, 0L,
                        0L);
}

int32_t zg_key_search(int32_t keyring, const char *description) {
    return (int32_t)syscall(SYS_keyctl, KEYCTL_SEARCH, (long)keyring, "user", description, 0L);
}

ssize_t zg_key_read(int32_t key, void *buffer, size_t count) {
    return syscall(SYS_keyctl, KEYCTL_READ, (long)key, buffer, count, 0L);
}

ssize_t zg_key_describe(int32_t key, char *buffer, size_t count) {
    return syscall(SYS_keyctl, KEYCTL_DESCRIBE, (long)key, buffer, count, 0L);
}

int zg_key_invalidate(int32_t key) {
    if (syscall(SYS_keyctl, KEYCTL_INVALIDATE, (long)key, 0L, 0L, 0L) == 0) {
        return 0;
    }
    return (int)syscall(SYS_keyctl, KEYCTL_REVOKE, (long)key, 0L, 0L, 0L);
}
