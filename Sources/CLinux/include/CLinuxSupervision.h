#ifndef ZG_CLINUX_SUPERVISION_H
#define ZG_CLINUX_SUPERVISION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Starts a program as a child of this process, which stays and forwards its output. Swift cannot
   call `fork`, and only async-signal-safe functions may run between it and `execve`, so all code
   that runs there is here. */

/// A program to supervise. All pointers are borrowed for the call.
struct zg_supervised_program {
    /// Paths to try in turn, null-terminated.
    char *_Nullable const *_Nonnull candidates;
    char *_Nullable const *_Nonnull arguments;
    char *_Nullable const *_Nonnull environment;
    /// The new descriptors 0 to 2, each above 2 and close-on-exec; -1 leaves one unchanged.
    int descriptors[3];
    /// Our ends of pipes and terminals, which the monitor must not hold open; -1 for none.
    int ours[4];
    /// A pseudo-terminal device that becomes the controlling terminal of a new session; -1 to stay
    /// in this session and process group.
    int terminal;
    /// With a terminal: whether the program starts in its foreground.
    bool in_foreground;
};

/// A running supervised program.
struct zg_supervision {
    /// Our child: the program itself or, with a terminal, the monitor, which leads its session.
    pid_t child;
    /// With a terminal: a socket for `zg_supervision_send` and `zg_supervision_receive`; otherwise
    /// -1.
    int control;
};

/// The messages on the control socket.
enum {
    /// From the monitor: the program was started; its process id.
    ZG_STARTED = 1,
    /// From the monitor: it could not be started; errno.
    ZG_REFUSED = 2,
    /// From the monitor: it was stopped by this signal.
    ZG_STOPPED = 3,
    /// From the monitor: it ended, with this status of wait(2). The monitor stays until the socket
    /// is closed, because the end of a session's leader discards the terminal's pending output.
    ZG_ENDED = 4,
    /// To the monitor: send this signal to the program.
    ZG_SIGNAL = 5,
    /// To the monitor: send this signal to the program's process group.
    ZG_SIGNAL_GROUP = 6,
    /// To the monitor: continue the group in the terminal's foreground.
    ZG_CONTINUE_IN_FOREGROUND = 7,
    /// To the monitor: continue the group where it is.
    ZG_CONTINUE = 8,
};

struct zg_supervision_message {
    int kind;
    int value;
};

/// Blocks the signals that a supervisor forwards, and returns a descriptor to read them from
/// (signalfd(2), non-blocking, close-on-exec), or -1 with errno. Includes SIGCHLD and SIGTTOU.
int zg_supervise_signals(void);

/// Returns the next signal, 0 without one, -1 with errno. `from_kernel` tells whether a
/// terminal sent it, not a process.
int zg_read_signal(int descriptor, bool *_Nonnull from_kernel);

/// Starts a program; call `zg_supervise_signals` first. The program gets the original mask and
/// dispositions. Returns 0, or -1 with errno if nothing was started, or if a program in this
/// session cannot be executed.
int zg_supervise(const struct zg_supervised_program *_Nonnull program,
                 struct zg_supervision *_Nonnull result);

/// Sends or receives a message on a control socket. Returns 1 on success, 0 if the other side has
/// closed or nothing has arrived yet.
int zg_supervision_send(int control, int kind, int value);
int zg_supervision_receive(int control, struct zg_supervision_message *_Nonnull message);

/// Stops this process, or with `whole_group` its process group, by a signal that the supervisor has
/// blocked. Returns once it is continued.
void zg_stop_by(int signal_number, bool whole_group);

/// Opens a pseudo-terminal: ends[0] is the controller, non-blocking, ends[1] the device; both are
/// close-on-exec. The device gets modes and size of the terminal `model` unless that is -1. Returns
/// 0, or -1 with errno.
int zg_open_pseudo_terminal(int ends[_Nonnull 2], int model);

/// Copies the size of a terminal to another. Returns 0 or -1.
int zg_copy_terminal_size(int from, int to);

#endif
