#ifndef ZG_CLINUX_PROCESSES_H
#define ZG_CLINUX_PROCESSES_H

#include <stddef.h>
#include <stdint.h>

/// Makes a file that is in memory alone, has no name in any directory, and can never be executed
/// where the kernel knows how to forbid that (memfd_create(2), MFD_NOEXEC_SEAL). Close-on-exec.
/// Returns its descriptor, or -1 with errno.
int zg_memory_file(const char *_Nonnull name);

/// Closes every descriptor from `first` on (close_range(2)). Returns 0 or -1.
int zg_close_from(int first);

/// Sleeps by the clock that goes on while the machine is suspended (CLOCK_BOOTTIME), whatever
/// signals come. Returns 0 or -1.
int zg_sleep(int64_t seconds);

/// Whether core dumps and tracing by others are allowed (prctl(2), PR_GET_DUMPABLE; variadic in C):
/// 0 for no, 1 for yes, 2 for root alone, -1 with errno.
int zg_is_dumpable(void);

/// Whether programs whose parent ends become this process's (prctl(2), PR_SET_CHILD_SUBREAPER; variadic
/// in C). Returns 0 or -1.
int zg_adopt_orphans(int adopts);

/// The magic number of the file system that a path is on (statfs(2)), or -1 with errno.
int64_t zg_file_system_type(const char *_Nonnull path);

/// Sends systemd one message of a service (sd_notify(3)) to the socket that NOTIFY_SOCKET names, where
/// `@` in front means an abstract one. Returns 0 or -1.
int zg_notify_service(const char *_Nonnull path, const char *_Nonnull text, size_t count);

#endif
