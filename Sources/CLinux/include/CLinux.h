#ifndef ZG_CLINUX_H
#define ZG_CLINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "CLinuxKeyring.h"
#include "CLinuxProcesses.h"
#include "CLinuxSearch.h"
#include "CLinuxSupervision.h"
#include "CLinuxTerminal.h"

/// Forbids core dumps and `ptrace` by other processes of the user (prctl(2), PR_SET_DUMPABLE).
/// The calls are variadic in C, which Swift cannot call.
int zg_set_not_dumpable(void);

/// Has a forked process find zeros in the pages of some private memory (madvise(2),
/// MADV_WIPEONFORK). Returns 0 or -1.
int zg_wipe_on_fork(void *_Nonnull start, size_t count);

/// Tells whether memory is kept out of swap that somebody asked to lock and wrote to, without learning
/// how that went: locks it (mlock2(2)), but has the kernel not look at each page for it. Returns 0 or -1.
int zg_lock_again(void *_Nonnull start, size_t count);

/// Takes a write lock on a whole file that belongs to the open description, not to the process
/// (fcntl(2), F_OFD_SETLK). Returns 0, or -1 with EAGAIN while somebody else holds it.
int zg_try_lock(int descriptor);

/// The same for the one byte at `offset`, so that one file serves for many locks.
int zg_try_lock_byte(int descriptor, int64_t offset);

/// Gives that byte back, for every process that has the description: closing it would leave the lock to
/// the others.
void zg_unlock_byte(int descriptor, int64_t offset);

/// copy_file_range(2) from an offset to the end of another file. Returns the bytes copied or -1.
ssize_t zg_copy_file_range(int from, int64_t offset, int to, size_t count);

/// Where the last of `byte` among `count` bytes is; -1 where there is none (memrchr(3), a GNU extension).
ssize_t zg_last_offset(const void *_Nullable bytes, uint8_t byte, size_t count);

/// Renames a file to a name that must be free (renameat2(2), RENAME_NOREPLACE), by link(2) and
/// unlink(2) where the file system cannot do that. Returns 0, or -1 with EEXIST when it is taken.
int zg_rename_new(const char *_Nonnull from, const char *_Nonnull to);

/// pipe2(2) with O_CLOEXEC: the reading end first. Returns 0 or -1.
int zg_pipe(int ends[_Nonnull 2]);

/// Opens /dev/null on each of the descriptors 0 to 2 that is closed, so that no file of the program's
/// own gets their numbers. Returns a bit for each that was closed (1 << descriptor).
int zg_fill_standard_descriptors(void);

#endif
