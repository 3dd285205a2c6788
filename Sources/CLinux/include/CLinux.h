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

/// Forbids core dumps and `ptrace` by other processes of the user (prctl(2), PR_SET_DUMPABLE). In C
/// because Swift cannot call variadic functions.
int zg_set_not_dumpable(void);

/// Makes private memory read as zeros in forked processes (madvise(2), MADV_WIPEONFORK). Returns 0
/// or -1.
int zg_wipe_on_fork(void *_Nonnull start, size_t count);

/// Locks memory again whose earlier lock may have failed (mlock2(2)), without having the kernel
/// check each page. Returns 0 or -1.
int zg_lock_again(void *_Nonnull start, size_t count);

/// Takes a write lock on a whole file that belongs to the open file description, not to the process
/// (fcntl(2), F_OFD_SETLK). Returns 0, or -1 with EAGAIN while another process holds it.
int zg_try_lock(int descriptor);

/// Takes a write lock on the byte at `offset`, so that one file provides many locks.
int zg_try_lock_byte(int descriptor, int64_t offset);

/// Releases that byte for every process with the file description, which closing the descriptor
/// would not.
void zg_unlock_byte(int descriptor, int64_t offset);

/// copy_file_range(2) from an offset to the end of another file. Returns the bytes copied or -1.
ssize_t zg_copy_file_range(int from, int64_t offset, int to, size_t count);

/// Returns the last offset of `byte` among `count` bytes, or -1 (memrchr(3), a GNU extension).
ssize_t zg_last_offset(const void *_Nullable bytes, uint8_t byte, size_t count);

/// Renames a file to a name that must be free (renameat2(2), RENAME_NOREPLACE), with link(2) and
/// unlink(2) on file systems without that. Returns 0, or -1 with EEXIST if the name is taken.
int zg_rename_new(const char *_Nonnull from, const char *_Nonnull to);

/// Opens a new file without a name for writing (open(2), O_TMPFILE), or returns -1: not every file
/// system can do that.
int zg_unnamed_file(const char *_Nonnull directory, mode_t permissions);

/// Gives an unnamed file a name that must be free. Returns 0 or -1.
int zg_name_file(int descriptor, const char *_Nonnull path);

/// Gives an open file the access control list of a path, or none if that has none (xattr(7)). In C
/// because Swift's Glibc module lacks extended attributes. Returns 0 or -1.
int zg_copy_access_list(const char *_Nonnull from, int to);

/// pipe2(2) with O_CLOEXEC: the reading end first. Returns 0 or -1.
int zg_pipe(int ends[_Nonnull 2]);

/// Opens /dev/null on each closed descriptor from 0 to 2, so that no other file gets their numbers.
/// Returns a bit for each that was closed (1 << descriptor).
int zg_fill_standard_descriptors(void);

#endif
