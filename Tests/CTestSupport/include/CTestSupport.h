#ifndef ZG_CTESTSUPPORT_H
#define ZG_CTESTSUPPORT_H

#include <spawn.h>

#include "CTestKeyrings.h"

/* What glibc declares for _GNU_SOURCE only, so that Swift does not see it. */

/// Makes the child close every descriptor from `first` on.
void zg_spawn_add_close_from(posix_spawn_file_actions_t *_Nonnull actions, int first);

/// Makes the child start in `directory`.
void zg_spawn_add_directory(posix_spawn_file_actions_t *_Nonnull actions,
                            const char *_Nonnull directory);

/// Makes the child start with default signals and an empty mask, and where `starts_session` is not
/// zero as the leader of a session without a controlling terminal. Returns zero.
int zg_spawn_set_flags(posix_spawnattr_t *_Nonnull attributes, int starts_session);

/// Makes a pipe that programs started elsewhere do not inherit: ends[0] is read. Zero, or -1 and errno.
int zg_test_pipe(int *_Nonnull ends);

/// Gives a file an access control list (acl(5)) that lets one user read it, and the group nothing; or a
/// directory one that new files inherit. Returns zero, or -1 and errno.
int zg_test_grant(const char *_Nonnull path, unsigned reader, int is_inherited);

/// Reads a file's access control list. Returns its length, or -1 and errno.
long zg_test_access_list(const char *_Nonnull path, void *_Nonnull list, unsigned long size);

/// Takes a lease for reading on a file, which the kernel refuses with EAGAIN while any process has
/// it open for writing (fcntl(2)). Closing the file ends it. Zero, or -1 and errno.
int zg_test_lease(int file);

/// Makes a terminal: ends[0] is the controller, ends[1] the device, whose path goes to `path`, of
/// `path_size` bytes. Zero, or -1 and errno.
int zg_open_terminal(int *_Nonnull ends, char *_Nonnull path, int path_size, int columns, int rows);

/// Changes the size of a terminal.
void zg_resize_terminal(int controller, int columns, int rows);

#endif
