#ifndef ZG_CLINUX_SUPERVISION_H
#define ZG_CLINUX_SUPERVISION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A program that is started beside this process, which stays and passes its output on. `fork` cannot
   be called from Swift, and between it and `execve` only async-signal-safe functions may be called;
   so everything that runs there is here. */

/// What a supervised program is started with. All pointers are borrowed for the call.
struct zg_supervised_program {
    /// Paths to try in turn, null-terminated.
    char *_Nullable const *_Nonnull candidates;
    char *_Nullable const *_Nonnull arguments;
    char *_Nullable const *_Nonnull environment;
    /// What becomes the descriptors 0 to 2; -1 leaves one as it is. Each above 2, and close-on-exec.
    int descriptors[3];
    /// Our ends of pipes and terminals, which a process in between must not hold open; -1 for none.
    int ours[4];
    /// The device of a pseudo-terminal that becomes the controlling terminal of a new session; -1 to
    /// stay in this session and process group.
    int terminal;
    /// With a terminal: whether the program starts in its foreground.
    bool in_foreground;
};

/// A supervised program that was started.
struct zg_supervision {
    /// Our child: the program itself or, with a terminal, the monitor, its session's leader.
    pid_t child;
    /// With a terminal: a socket of `zg_supervision_message`, both ways; else -1.
    int control;
};

/// What the two sides of the control socket say.
enum {
    /// From the monitor: the program was started; its process id.
    ZG_STARTED = 1,
    /// From the monitor: it was not; errno.
    ZG_REFUSED = 2,
    /// From the monitor: it was stopped by this signal.
    ZG_STOPPED = 3,
    /// From the monitor: it ended, with this status of wait(2). The monitor stays until the socket is
    /// closed: the end of a session's leader would throw away what the terminal still holds.
    ZG_ENDED = 4,
    /// To the monitor: send this signal to the program.
    ZG_SIGNAL = 5,
    /// To the monitor: send this signal to the program's process group.
    ZG_SIGNAL_GROUP = 6,
    /// To the monitor: let the group go on, in the terminal's foreground.
    ZG_CONTINUE_IN_FOREGROUND = 7,
    /// To the monitor: let the group go on where it is.
    ZG_CONTINUE = 8,
};

struct zg_supervision_message {
    int kind;
    int value;
};

/// Blocks the signals that a supervisor passes on, and gives a descriptor to read them from
/// (signalfd(2), non-blocking, close-on-exec); -1 with errno. SIGCHLD and SIGTTOU are among them.
int zg_supervise_signals(void);

/// Reads one signal: its number, 0 when there is none, -1 with errno. `from_kernel` tells whether a
/// terminal sent it, rather than a process.
int zg_read_signal(int descriptor, bool *_Nonnull from_kernel);

/// Starts a program; wants `zg_supervise_signals` before. The program gets mask and dispositions as
/// this process found them. Returns 0; -1 with errno where nothing could be started, and for a
/// program in this session also where it cannot be executed.
int zg_supervise(const struct zg_supervised_program *_Nonnull program,
                 struct zg_supervision *_Nonnull result);

/// Sends or receives a message on a control socket. 1 when done, 0 when the other side has gone or
/// nothing is there yet.
int zg_supervision_send(int control, int kind, int value);
int zg_supervision_receive(int control, struct zg_supervision_message *_Nonnull message);

/// Stops this process, or with `whole_group` its process group, by a signal that the supervisor has
/// blocked, and returns once it was continued.
void zg_stop_by(int signal_number, bool whole_group);

/// Opens a pseudo-terminal: ends[0] is the controller, non-blocking, ends[1] the device; both are
/// close-on-exec. The device gets modes and size of the terminal `model` where that is not -1.
/// Returns 0, or -1 with errno.
int zg_open_pseudo_terminal(int ends[_Nonnull 2], int model);

/// Gives a terminal the size of another one. Returns 0 or -1.
int zg_copy_terminal_size(int from, int to);

#endif
