#define _GNU_SOURCE
#include "CTestSupport.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <unistd.h>

void zg_spawn_add_close_from(posix_spawn_file_actions_t *actions, int first) {
    posix_spawn_file_actions_addclosefrom_np(actions, first);
}

void zg_spawn_add_directory(posix_spawn_file_actions_t *actions, const char *directory) {
    posix_spawn_file_actions_addchdir_np(actions, directory);
}

int zg_spawn_set_flags(posix_spawnattr_t *attributes, int starts_session) {
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(attributes, &signals);
    int flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    if (starts_session)
        flags |= POSIX_SPAWN_SETSID;
    return posix_spawnattr_setflags(attributes, (short)flags);
}

int zg_test_pipe(int *ends) {
    return pipe2(ends, O_CLOEXEC);
}

static const char *access_list(int is_inherited) {
    return is_inherited ? "system.posix_acl_default" : "system.posix_acl_access";
}

int zg_test_grant(const char *path, unsigned reader, int is_inherited) {
    /* Version 2, then entries of a tag, permissions and a number, little-endian. */
    struct entry {
        unsigned short tag, permissions;
        unsigned number;
    };
    struct {
        unsigned version;
        struct entry entries[5];
    } list = {2, {{0x01, 6, ~0u}, {0x02, 4, reader}, {0x04, 0, ~0u}, {0x10, 4, ~0u}, {0x20, 0, ~0u}}};
    return setxattr(path, access_list(is_inherited), &list, sizeof list, 0);
}

long zg_test_access_list(const char *path, void *list, unsigned long size) {
    return getxattr(path, access_list(0), list, size);
}

int zg_test_lease(int file) {
    return fcntl(file, F_SETLEASE, F_RDLCK);
}

int zg_open_terminal(int *ends, char *path, int path_size, int columns, int rows) {
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    ends[1] = -1;
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[0] < 0)
        return -1;
    if (grantpt(ends[0]) != 0 || unlockpt(ends[0]) != 0 ||
        ptsname_r(ends[0], path, (size_t)path_size) != 0)
        goto fail;
    ends[1] = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ends[1] < 0 || ioctl(ends[1], TIOCSWINSZ, &size) != 0)
        goto fail;
    return 0;
fail:
    close(ends[0]);
    if (ends[1] >= 0)
        close(ends[1]);
    return -1;
}

void zg_resize_terminal(int controller, int columns, int rows) {
    struct winsize size = {.ws_row = (unsigned short)rows, .ws_col = (unsigned short)columns};
    ioctl(controller, TIOCSWINSZ, &size);
}
