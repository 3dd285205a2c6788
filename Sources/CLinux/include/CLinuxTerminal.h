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

/// Sets what the handlers write to stderr before they end the process: at most 512 bytes, nothing
/// for a length of 0. Copied.
void zg_set_last_words(const char *_Nonnull text, size_t length);

/// Begins a section in which the handlers only note the signal. Sections nest.
void zg_interrupts_defer(void);

/// Ends a section of `zg_interrupts_defer`. A noted signal stays noted: the caller decides.
void zg_interrupts_resume(void);

/// The signal noted in a deferred section, 0 when there was none.
int zg_interrupted(void);

/// Ends the process as the handler would have if a signal was noted; otherwise returns.
void zg_end_if_interrupted(void);

/// Has `zg_interrupted` say -1 where no signal was noted, so that what asks it gives up as for one. A
/// signal that comes later takes its place.
void zg_interrupts_note_end(void);

/// Takes back `zg_interrupts_note_end`.
void zg_interrupts_forget_end(void);

/// The size of the terminal behind a descriptor. Returns 0, or -1 when it is none or does not know.
int zg_terminal_size(int fd, int *_Nonnull columns, int *_Nonnull rows);

/// A descriptor that becomes readable with `zg_wake` (eventfd(2)); -1 with errno.
int zg_wake_open(void);

/// Makes a descriptor of `zg_wake_open` readable. Async-signal-safe.
void zg_wake(int fd);

/// What `zg_screen_noted` says, as bits.
enum {
    /// SIGTSTP came: the screen is to be left, and the process to stop.
    ZG_SCREEN_STOP = 1,
    /// The process goes on after a stop.
    ZG_SCREEN_CONTINUED = 2,
};

/// Has SIGTSTP, SIGCONT and SIGWINCH, and every signal that a deferred section notes, wake a loop that
/// waits on `wake`; the first two are noted. A second interrupt in a deferred section does not wait for
/// its end any more: the terminal gets `leave` (at most 128 bytes) and `saved`, and the process ends.
/// Returns 0, or -1 with errno.
int zg_screen_signals_set(int fd, int wake, const struct termios *_Nonnull saved,
                          const char *_Nonnull leave, size_t leave_length);

/// Ends what `zg_screen_signals_set` began, but for the waking by interrupts. Puts nothing back: the
/// caller has done so.
void zg_screen_signals_clear(void);

/// Ends the waking too, before its descriptor is closed.
void zg_screen_forget_wake(void);

/// What was noted since the last call.
int zg_screen_noted(void);

/// Stops the process as SIGTSTP does by itself; wants `zg_screen_signals_clear` before. Returns when it
/// goes on.
void zg_screen_stop(void);

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
