#ifndef ZG_CLINUX_PROCESSES_H
#define ZG_CLINUX_PROCESSES_H

#include <stddef.h>
#include <stdint.h>

/// Creates a nameless file in memory, which can never be executed if the kernel supports that
/// (memfd_create(2), MFD_NOEXEC_SEAL). Close-on-exec. Returns its descriptor, or -1 with errno.
int zg_memory_file(const char *_Nonnull name);

/// Closes every descriptor from `first` on (close_range(2)). Returns 0 or -1.
int zg_close_from(int first);

/// Sleeps by the clock that continues while the machine is suspended (CLOCK_BOOTTIME), regardless
/// of signals. Returns 0 or -1.
int zg_sleep(int64_t seconds);

/// Returns whether core dumps and tracing by others are allowed (prctl(2), PR_GET_DUMPABLE;
/// variadic in C): 0 for no, 1 for yes, 2 for root only, -1 with errno.
int zg_is_dumpable(void);

/// Sets whether orphaned descendants are reparented to this process (prctl(2),
/// PR_SET_CHILD_SUBREAPER; variadic in C). Returns 0 or -1.
int zg_adopt_orphans(int adopts);

/// Returns the magic number of a path's file system (statfs(2)), or -1 with errno.
int64_t zg_file_system_type(const char *_Nonnull path);

/// Sends a message to systemd (sd_notify(3)) on the socket in NOTIFY_SOCKET; a leading `@` means an
/// abstract one. Returns 0 or -1.
int zg_notify_service(const char *_Nonnull path, const char *_Nonnull text, size_t count);

#endif
