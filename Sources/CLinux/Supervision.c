#define _GNU_SOURCE
#include "CLinuxSupervision.h"

#include "CLinuxTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* The signals that the supervisor reads. SIGTTOU is only blocked, so that terminal modes can be
   restored from the background. */
static const int passed_on[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
                                SIGALRM, SIGWINCH, SIGCONT, SIGTSTP, SIGCHLD};
enum { PASSED_ON = sizeof passed_on / sizeof passed_on[0] };

static sigset_t mask_before;

int zg_supervise_signals(void) {
    sigset_t set, blocked;
    sigemptyset(&set);
    for (int i = 0; i < PASSED_ON; i++) {
        sigaddset(&set, passed_on[i]);
    }
    blocked = set;
    sigaddset(&blocked, SIGTTOU);
    if (sigprocmask(SIG_BLOCK, &blocked, &mask_before) != 0) {
        return -1;
    }
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int zg_read_signal(int descriptor, bool *from_kernel) {
    struct signalfd_siginfo information;
    ssize_t count = read(descriptor, &information, sizeof information);
    if (count < 0) {
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    }
    if (count != sizeof information) {
        return 0;
    }
    *from_kernel = information.ssi_code > 0;
    return (int)information.ssi_signo;
}

/* Does not return. On failure writes errno to `report`, which is close-on-exec. */
static _Noreturn void become(const struct zg_supervised_program *program, int report) {
    int refused = 0;
    for (int number = 0; number < 3; number++) {
        if (program->descriptors[number] >= 0 && dup2(program->descriptors[number], number) < 0) {
            refused = errno;
        }
    }
    if (refused == 0 && (sigprocmask(SIG_SETMASK, &mask_before, NULL) != 0 ||
                         zg_restore_signal_state() != 0)) {
        refused = ECANCELED;
    }
    for (int i = 0; refused == 0 || refused == EACCES; i++) {
        char *candidate = program->candidates[i];
        if (candidate == NULL) {
            break;
        }
        execve(candidate, program->arguments, program->environment);
        int number = errno;
        if (number == ENOENT || number == ENOTDIR) {
            continue;
        }
        /* A directory of the path without permission does not end the search. */
        if (refused == 0 || number != EACCES) {
            refused = refused == 0 || number == E2BIG ? number : refused;
        }
        if (number != EACCES) {
            break;
        }
    }
    if (refused == 0) {
        refused = ENOENT;
    }
    ssize_t written = write(report, &refused, sizeof refused);
    (void)written;
    _exit(127);
}

/* Waits until the program was executed. Returns 0 or errno. */
static int await_execution(int report) {
    int refused = 0;
    ssize_t count;
    do {
        count = read(report, &refused, sizeof refused);
    } while (count < 0 && errno == EINTR);
    return count == sizeof refused ? refused : 0;
}

static void close_ours(const struct zg_supervised_program *program) {
    for (size_t i = 0; i < sizeof program->ours / sizeof program->ours[0]; i++) {
        if (program->ours[i] >= 0) {
            close(program->ours[i]);
        }
    }
}

/* Carries out a message from the socket. Returns false once the supervisor is gone. */
static bool obey(int control, pid_t program, int terminal) {
    struct zg_supervision_message message;
    ssize_t count = recv(control, &message, sizeof message, MSG_DONTWAIT);
    if (count < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (count != sizeof message) {
        return false;
    }
    switch (message.kind) {
    case ZG_SIGNAL:
        kill(program, message.value);
        break;
    case ZG_SIGNAL_GROUP:
        kill(-program, message.value);
        break;
    case ZG_CONTINUE_IN_FOREGROUND:
        tcsetpgrp(terminal, program);
        kill(-program, SIGCONT);
        break;
    case ZG_CONTINUE:
        kill(-program, SIGCONT);
        break;
    default:
        break;
    }
    return true;
}

/* The leader of the new session. It only holds the terminal, and stays with the program: a process
   group without a relative in its session could not be stopped from the terminal. */
static _Noreturn void monitor(const struct zg_supervised_program *program, int control) {
    int terminal = program->terminal;
    sigset_t all, child_only;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigemptyset(&child_only);
    sigaddset(&child_only, SIGCHLD);
    int signals = signalfd(-1, &child_only, SFD_CLOEXEC | SFD_NONBLOCK);
    int report[2];
    close_ours(program);
    if (signals < 0 || setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) != 0 ||
        pipe2(report, O_CLOEXEC) != 0) {
        zg_supervision_send(control, ZG_REFUSED, ECANCELED);
        _exit(1);
    }
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        if (program->in_foreground) {
            tcsetpgrp(terminal, getpid());
        }
        become(program, report[1]);
    }
    close(report[1]);
    /* This process must not keep the program's environment. */
    for (char *const *entry = program->environment; *entry != NULL; entry++) {
        explicit_bzero(*entry, strlen(*entry));
    }
    for (int number = 0; number < 3; number++) {
        int descriptor = program->descriptors[number];
        if (descriptor >= 0 && descriptor != terminal) {
            close(descriptor);
        }
    }
    if (child < 0) {
        zg_supervision_send(control, ZG_REFUSED, ECANCELED);
        _exit(1);
    }
    /* The program does this too; whichever is first. */
    setpgid(child, child);
    int refused = await_execution(report[0]);
    close(report[0]);
    if (refused != 0) {
        waitpid(child, NULL, 0);
        zg_supervision_send(control, ZG_REFUSED, refused);
        _exit(1);
    }
    zg_supervision_send(control, ZG_STARTED, child);
    while (true) {
        struct pollfd entries[2] = {{control, POLLIN, 0}, {signals, POLLIN, 0}};
        poll(entries, 2, -1);
        bool from_kernel;
        while (zg_read_signal(signals, &from_kernel) > 0) {
        }
        int status;
        pid_t waited;
        while ((waited = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
            if (waited != child) {
                continue;
            }
            if (WIFSTOPPED(status)) {
                zg_supervision_send(control, ZG_STOPPED, WSTOPSIG(status));
                continue;
            }
            close(terminal);
            zg_supervision_send(control, ZG_ENDED, status);
            struct pollfd end = {control, POLLIN, 0};
            char byte;
            while (poll(&end, 1, -1) < 0 || recv(control, &byte, 1, 0) > 0) {
            }
            _exit(0);
        }
        if (!obey(control, child, terminal)) {
            /* The supervisor was killed, which without a monitor would have ended the program. */
            kill(child, SIGKILL);
            _exit(1);
        }
    }
}

static int supervise_in_session(const struct zg_supervised_program *program,
                                struct zg_supervision *result) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        return -1;
    }
    pid_t supervisor = getpid();
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != supervisor) {
            _exit(127);
        }
        become(program, report[1]);
    }
    int error = errno;
    close(report[1]);
    if (child > 0) {
        error = await_execution(report[0]);
    }
    close(report[0]);
    if (child < 0 || error != 0) {
        if (child > 0) {
            waitpid(child, NULL, 0);
        }
        errno = error;
        return -1;
    }
    result->child = child;
    result->control = -1;
    return 0;
}

int zg_supervise(const struct zg_supervised_program *program, struct zg_supervision *result) {
    if (program->terminal < 0) {
        return supervise_in_session(program, result);
    }
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        return -1;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        monitor(program, ends[1]);
    }
    int error = errno;
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        errno = error;
        return -1;
    }
    result->child = child;
    result->control = ends[0];
    return 0;
}

int zg_supervision_send(int control, int kind, int value) {
    struct zg_supervision_message message = {kind, value};
    ssize_t count;
    do {
        count = send(control, &message, sizeof message, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    return count == sizeof message;
}

int zg_supervision_receive(int control, struct zg_supervision_message *message) {
    ssize_t count;
    do {
        count = recv(control, message, sizeof *message, 0);
    } while (count < 0 && errno == EINTR);
    return count == sizeof *message;
}

void zg_stop_by(int signal_number, bool whole_group) {
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    kill(whole_group ? 0 : getpid(), signal_number);
    /* Stops here until SIGCONT; does nothing in an orphaned process group. */
    sigprocmask(SIG_UNBLOCK, &one, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int zg_open_pseudo_terminal(int ends[2], int model) {
    char path[128];
    ends[1] = -1;
    ends[0] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (ends[0] < 0) {
        return -1;
    }
    if (grantpt(ends[0]) == 0 && unlockpt(ends[0]) == 0 &&
        ptsname_r(ends[0], path, sizeof path) == 0) {
        ends[1] = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
    }
    if (ends[1] < 0) {
        int error = errno;
        close(ends[0]);
        errno = error;
        return -1;
    }
    struct termios modes;
    if (model >= 0 && tcgetattr(model, &modes) == 0) {
        tcsetattr(ends[1], TCSANOW, &modes);
    }
    zg_copy_terminal_size(model, ends[1]);
    return 0;
}

int zg_copy_terminal_size(int from, int to) {
    struct winsize size;
    if (from < 0 || ioctl(from, TIOCGWINSZ, &size) != 0) {
        return -1;
    }
    return ioctl(to, TIOCSWINSZ, &size);
}
