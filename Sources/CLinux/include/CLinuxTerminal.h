#ifndef ZG_CLINUX_TERMINAL_H
#define ZG_CLINUX_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* Terminals and signals. A signal handler may call async-signal-safe functions only, which Swift
   code cannot promise; so the handlers and all that they touch are here. */

/// Columns of the terminal behind a descriptor, 0 when it is none or does not know. `ioctl` is
/// variadic in C, which Swift cannot call.
int zg_terminal_columns(int fd);

/// Keeps what a terminal is to be put back to when a signal ends or stops the process.
/// `saved` are the modes found, `active` the modes of the prompt, and `prompt` what is written again
/// when the process goes on after a stop (cut after 512 bytes). One terminal at a time: a second
/// call replaces the first. Installs the handlers of `zg_install_interrupt_handlers`, and for the
/// time of the guard those of SIGTSTP and SIGCONT. Returns 0, or -1 with errno.
int zg_terminal_guard_set(int fd, const struct termios *_Nonnull saved,
                          const struct termios *_Nonnull active, const char *_Nullable prompt,
                          size_t prompt_length);

/// Forgets the guarded terminal. Puts nothing back: the caller has done so.
void zg_terminal_guard_clear(void);

/// Installs the handlers of SIGHUP, SIGINT, SIGQUIT and SIGTERM, which put the guarded terminal back
/// and end the process with `_exit(128 + signal)`, and ignores SIGPIPE so that a closed output is an
/// error of the write. Remembers before it the mask and the dispositions found. A signal found
/// ignored (`nohup`) stays ignored. A second call does nothing. Returns 0, or -1 with errno.
int zg_install_interrupt_handlers(void);

/// Begins a section in which the handlers only note the signal. Sections nest.
void zg_interrupts_defer(void);

/// Ends a section of `zg_interrupts_defer`. A noted signal stays noted: the caller decides.
void zg_interrupts_resume(void);

/// The signal noted in a deferred section, 0 when there was none.
int zg_interrupted(void);

/// Ends the process as the handler would have if a signal was noted; otherwise returns.
void zg_end_if_interrupted(void);

/// Has SIGINT and SIGQUIT of the keyboard do nothing here, while a program that the user works with has
/// the terminal; it gets their usual effect. Those found ignored stay so.
void zg_interrupts_pause_keys(void);

/// Ends what `zg_interrupts_pause_keys` began.
void zg_interrupts_resume_keys(void);

/// Puts back the mask and every disposition that `zg_install_interrupt_handlers` and
/// `zg_terminal_guard_set` changed, for a program that is about to be replaced with `execve`.
/// Does nothing when nothing was changed. Returns 0, or -1 with errno.
int zg_restore_signal_state(void);

#endif
