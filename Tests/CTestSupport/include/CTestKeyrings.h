#ifndef ZG_CTEST_KEYRINGS_H
#define ZG_CTEST_KEYRINGS_H

/* What changes the calling thread alone, and the programs started from it: its session keyring, its
   user, and the system calls it may make. Each returns zero, or -1 and errno. */

/// Gives the thread a new session keyring without a name, or the existing one of `name`.
int zg_test_join_session(const char *_Nullable name);

/// Ends the thread's session keyring, as a logout does.
int zg_test_revoke_session(void);

/// Links the user keyring into the thread's session keyring, as pam_keyinit(8) does at a login.
int zg_test_link_user_keyring(void);

/// Makes the thread one of another user, with no way back and no privileges, as su(1) does. The
/// session keyring stays.
int zg_test_become(unsigned user);

/// Makes `user` the thread's real user, whose user keyring it then has; the effective one stays.
int zg_test_become_really(unsigned user);

/// Has every system call of keyrings fail with `number`, for the thread and its programs, for ever.
int zg_test_forbid_keyrings(int number);

#endif
