#define _GNU_SOURCE
#include "CTestKeyrings.h"

#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int zg_test_join_session(const char *name) {
    return syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, name) < 0 ? -1 : 0;
}

int zg_test_revoke_session(void) {
    return (int)syscall(SYS_keyctl, KEYCTL_REVOKE, (long)KEY_SPEC_SESSION_KEYRING);
}

int zg_test_link_user_keyring(void) {
    return (int)syscall(SYS_keyctl, KEYCTL_LINK, (long)KEY_SPEC_USER_KEYRING,
                        (long)KEY_SPEC_SESSION_KEYRING);
}

int zg_test_become(unsigned user) {
    /* By system call: the function of the C library changes all threads. */
    if (syscall(SYS_setgroups, 0L, NULL) != 0 || syscall(SYS_setresgid, user, user, user) != 0)
        return -1;
    return (int)syscall(SYS_setresuid, user, user, user);
}

int zg_test_become_really(unsigned user) {
    return (int)syscall(SYS_setresuid, user, -1, -1);
}

int zg_test_forbid_keyrings(int number) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_add_key, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_request_key, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((unsigned)number & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
