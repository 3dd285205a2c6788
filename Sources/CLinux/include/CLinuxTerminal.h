#ifndef ZG_CLINUX_TERMINAL_H
#define ZG_CLINUX_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

/* Terminals and signals. A signal handler may only call async-signal-safe functions, which Swift
   code cannot guarantee; so the handlers and everything they use are here. */

/// Returns the columns of a terminal, or 0 if they are unknown or it is not a terminal. `ioctl`
/// is variadic, which Swift cannot call.
int zg_terminal_columns(int fd);

/// Saves the terminal state to restore when a signal ends or stops the process: `saved` are the
/// original modes, `active` the modes of the prompt, and `prompt` is written again after a stop
/// (cut after 512 bytes). One terminal at a time: a second call replaces the first. Installs the
/// handlers of `zg_install_interrupt_handlers`, and until the guard is cleared those of SIGTSTP and
/// SIGCONT. Returns 0, or -1 with errno.
int zg_terminal_guard_set(int fd, const struct termios *_Nonnull saved,
                          const struct termios *_Nonnull active, const char *_Nullable prompt,
                          size_t prompt_length);

/// Clears the guard. The caller has restored the terminal.
void zg_terminal_guard_clear(void);

/// Installs handlers of SIGHUP, SIGINT, SIGQUIT and SIGTERM, which restore the guarded terminal and
/// end the process: by SIGINT itself, otherwise with `_exit(128 + signal)`. Ignores SIGPIPE so that a
/// closed output is a write error. Saves the original mask and dispositions first. An ignored signal
/// (`nohup`) stays ignored. A second call does nothing. Returns 0, or -1 with errno.
int zg_install_interrupt_handlers(void);

/// Sets what the handlers write to stderr before they end the process: at most 512 bytes, nothing
/// for a length of 0. Copied.
void zg_set_last_words(const char *_Nonnull text, size_t length);

/// Begins a section in which the handlers only record the signal. Sections nest.
void zg_interrupts_defer(void);

/// Ends a section of `zg_interrupts_defer`. A recorded signal stays recorded for the caller.
void zg_interrupts_resume(void);

/// Returns the signal recorded in a deferred section, or 0.
int zg_interrupted(void);

/// Ends the process as the handler would if a signal was recorded; otherwise returns.
void zg_end_if_interrupted(void);

/// Makes `zg_interrupted` return -1 if no signal was recorded, so that callers give up as for one.
/// A later signal replaces it.
void zg_interrupts_note_end(void);

/// Undoes `zg_interrupts_note_end`.
void zg_interrupts_forget_end(void);

/// Begins a section of a screen's program in which SIGINT does not end the process; to be called in a
/// section of `zg_interrupts_defer`.
void zg_interrupts_return_begin(void);

/// Ends the section, and forgets a recorded SIGINT.
void zg_interrupts_return_end(void);

/// Whether such a section is running.
bool zg_interrupts_returns(void);

/// Reads the size of a terminal. Returns 0, or -1 if the size is unknown or it is not a terminal.
int zg_terminal_size(int fd, int *_Nonnull columns, int *_Nonnull rows);

/// Returns a descriptor that becomes readable by `zg_wake` (eventfd(2)), or -1 with errno.
int zg_wake_open(void);

/// Makes a descriptor of `zg_wake_open` readable. Async-signal-safe.
void zg_wake(int fd);

/// The bits of `zg_screen_noted`.
enum {
    /// SIGTSTP arrived: the caller must leave the screen and stop the process.
    ZG_SCREEN_STOP = 1,
    /// The process was continued after a stop.
    ZG_SCREEN_CONTINUED = 2,
};

/// Makes SIGTSTP, SIGCONT and SIGWINCH, and every signal recorded in a deferred section, wake a
/// loop that waits on `wake`; the first two are recorded. A second interrupt in a deferred section
/// takes effect at once: the terminal gets `leave` (at most 128 bytes) and `saved`, and the process
/// ends. Returns 0, or -1 with errno.
int zg_screen_signals_set(int fd, int wake, const struct termios *_Nonnull saved,
                          const char *_Nonnull leave, size_t leave_length);

/// Undoes `zg_screen_signals_set`, except that interrupts still wake the loop. The caller has
/// restored the terminal.
void zg_screen_signals_clear(void);

/// Stops waking the loop too; call before closing its descriptor.
void zg_screen_forget_wake(void);

/// Returns what was recorded since the last call.
int zg_screen_noted(void);

/// Stops the process like SIGTSTP by default; call `zg_screen_signals_clear` first. Returns when it
/// is continued.
void zg_screen_stop(void);

/// Disables SIGINT and SIGQUIT here while another program has the terminal; that program gets their
/// usual effect. Ignored ones stay ignored.
void zg_interrupts_pause_keys(void);

/// Undoes `zg_interrupts_pause_keys`.
void zg_interrupts_resume_keys(void);

/// Restores the mask and every disposition changed by `zg_install_interrupt_handlers` and
/// `zg_terminal_guard_set`, before the process is replaced with `execve`. Does nothing if nothing
/// was changed. Returns 0, or -1 with errno.
int zg_restore_signal_state(void);

#endif
