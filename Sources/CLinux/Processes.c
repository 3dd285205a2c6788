#define _GNU_SOURCE
#include "CLinuxProcesses.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Since Linux 6.3; headers of today's distributions may be older. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int zg_memory_file(const char *name) {
    int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_NOEXEC_SEAL);
    if (descriptor < 0 && errno == EINVAL) {
        descriptor = memfd_create(name, MFD_CLOEXEC);
    }
    return descriptor;
}

int zg_close_from(int first) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, UINT_MAX, 0U) == 0) {
        return 0;
    }
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    if (limit < 0) {
        return -1;
    }
    for (long descriptor = first; descriptor < limit; descriptor++) {
        close((int)descriptor);
    }
    return 0;
}

int zg_sleep(int64_t seconds) {
    struct timespec end;
    if (clock_gettime(CLOCK_BOOTTIME, &end) != 0) {
        return -1;
    }
    end.tv_sec += (time_t)seconds;
    int error;
    do {
        error = clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &end, NULL);
    } while (error == EINTR);
    errno = error;
    return error == 0 ? 0 : -1;
}

int zg_is_dumpable(void) {
    return prctl(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L);
}

int64_t zg_file_system_type(const char *path) {
    struct statfs information;
    if (statfs(path, &information) != 0) {
        return -1;
    }
    /* The field is signed and 32 or 64 bits wide; the numbers themselves have 32 bits. */
    return (int64_t)(uint32_t)information.f_type;
}
