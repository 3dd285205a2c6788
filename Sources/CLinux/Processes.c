#define _GNU_SOURCE
#include "CLinuxProcesses.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Since Linux 6.3; the distribution's headers may be older. */
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

int zg_adopt_orphans(int adopts) {
    return prctl(PR_SET_CHILD_SUBREAPER, (unsigned long)adopts, 0, 0, 0);
}

int64_t zg_file_system_type(const char *path) {
    struct statfs information;
    if (statfs(path, &information) != 0) {
        return -1;
    }
    /* The field is signed and 32 or 64 bits wide; the numbers themselves have 32 bits. */
    return (int64_t)(uint32_t)information.f_type;
}

int zg_notify_service(const char *path, const char *text, size_t count) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof address);
    size_t length = strlen(path);
    if (length < 2 || length >= sizeof address.sun_path || (path[0] != '/' && path[0] != '@')) {
        errno = EINVAL;
        return -1;
    }
    address.sun_family = AF_UNIX;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') {
        address.sun_path[0] = 0;
    }
    int file = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (file < 0) {
        return -1;
    }
    ssize_t sent = sendto(file, text, count, MSG_NOSIGNAL, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(file);
    return sent == (ssize_t)count ? 0 : -1;
}
