#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/xattr.h>
#include <unistd.h>

int zg_set_not_dumpable(void) {
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* Returns the start and length of the pages that contain `count` bytes from `start`. */
static void *whole_pages(void *start, size_t count, size_t *length) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)start & ~(page - 1);
    uintptr_t end = ((uintptr_t)start + count + page - 1) & ~(page - 1);
    *length = end - first;
    return (void *)first;
}

int zg_wipe_on_fork(void *start, size_t count) {
    size_t length;
    void *first = whole_pages(start, count, &length);
    return madvise(first, length, MADV_WIPEONFORK);
}

int zg_lock_again(void *start, size_t count) {
    size_t length;
    void *first = whole_pages(start, count, &length);
    if (mlock2(first, length, MLOCK_ONFAULT) == 0) return 0;
    return errno == ENOSYS || errno == EINVAL ? mlock(first, length) : -1;
}

ssize_t zg_last_offset(const void *bytes, uint8_t byte, size_t count) {
    const uint8_t *found = count > 0 ? memrchr(bytes, byte, count) : NULL;
    return found ? found - (const uint8_t *)bytes : -1;
}

static int set_lock(int descriptor, short type, int64_t offset, int64_t length) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = offset;
    lock.l_len = length;
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

int zg_try_lock(int descriptor) {
    return set_lock(descriptor, F_WRLCK, 0, 0);
}

int zg_try_lock_byte(int descriptor, int64_t offset) {
    return set_lock(descriptor, F_WRLCK, offset, 1);
}

void zg_unlock_byte(int descriptor, int64_t offset) {
    set_lock(descriptor, F_UNLCK, offset, 1);
}

ssize_t zg_copy_file_range(int from, int64_t offset, int to, size_t count) {
    off64_t start = offset;
    return copy_file_range(from, &start, to, NULL, count, 0);
}

int zg_rename_new(const char *from, const char *to) {
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    if (link(from, to) != 0) return -1;
    unlink(from);
    return 0;
}

int zg_unnamed_file(const char *directory, mode_t permissions) {
    /* Without /proc it could not be named. */
    if (access("/proc/self/fd", X_OK) != 0) return -1;
    return open(directory, O_WRONLY | O_TMPFILE | O_CLOEXEC, permissions);
}

int zg_name_file(int descriptor, const char *path) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/* The extended attribute of the access ACL (acl(5)). */
static const char access_list[] = "system.posix_acl_access";

/* Returns whether an attribute could not be read because the file has no such one. */
static int has_none(void) {
    return errno == ENODATA || errno == ENOTSUP || errno == ENOSYS;
}

int zg_copy_access_list(const char *from, int to) {
    char list[65536]; /* XATTR_SIZE_MAX */
    ssize_t count = getxattr(from, access_list, list, sizeof list);
    if (count < 0 && !has_none()) return -1;
    if (count >= 0) return fsetxattr(to, access_list, list, (size_t)count, 0);
    return fremovexattr(to, access_list) == 0 || has_none() ? 0 : -1;
}

int zg_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

int zg_fill_standard_descriptors(void) {
    int filled = 0;
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) != -1) continue;
        /* The lowest free number is this one, since all below are open. A closed stdin may only
           read as empty where that is allowed, and a closed stdout must not accept output, so each
           is opened in the opposite direction, and using it fails. */
        int flags = descriptor == 0 ? O_WRONLY : O_RDONLY;
        if (open("/dev/null", flags | O_CLOEXEC) == descriptor) filled |= 1 << descriptor;
    }
    return filled;
}
