#include "CLinuxTerminal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PROMPT_CAPACITY = 512 };

/* The signals whose dispositions may change, with the original ones. */
static const int guarded_signals[] = {SIGHUP,  SIGINT,  SIGQUIT,  SIGTERM, SIGPIPE,
                                      SIGTSTP, SIGCONT, SIGWINCH, SIGCHLD};
enum { GUARDED_SIGNALS = sizeof guarded_signals / sizeof guarded_signals[0] };

static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction found_actions[GUARDED_SIGNALS];
static sigset_t found_mask;
static bool installed;

/* Read by the handlers. The descriptor is published last and withdrawn first. */
static atomic_int guard_fd = -1;
static struct termios guard_saved;
static struct termios guard_active;
static char guard_prompt[PROMPT_CAPACITY];
static size_t guard_prompt_length;

/* Written to stderr when a signal ends the process. The length is published last. */
enum { LAST_WORDS_CAPACITY = 512 };
static char last_words[LAST_WORDS_CAPACITY];
static atomic_size_t last_words_length;

static atomic_int deferred_sections;
static atomic_int noted_signal;
/* Whether a keyboard interrupt only ends the section of `zg_interrupts_return_begin`. */
static atomic_bool returns_to_screen;

/* The screen of `zg_screen_signals_set`. The descriptor is published last and withdrawn first. */
enum { SCREEN_LEAVE_CAPACITY = 128 };
static atomic_int screen_fd = -1;
static atomic_int screen_wake = -1;
static struct termios screen_saved;
static char screen_leave[SCREEN_LEAVE_CAPACITY];
static size_t screen_leave_length;
static atomic_int screen_noted;

/* The signals of a crash: while a screen is shown, they give the terminal back first. */
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT};
enum { CRASH_SIGNALS = sizeof crash_signals / sizeof crash_signals[0] };
static struct sigaction found_crash_actions[CRASH_SIGNALS];
static bool handles_crashes;

int zg_terminal_columns(int fd) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0) {
        return 0;
    }
    return size.ws_col;
}

/* Nothing can be done about an error in a signal handler. */
static void write_or_drop(int fd, const void *bytes, size_t count) {
    ssize_t written = write(fd, bytes, count);
    (void)written;
}

static void put_terminal_back(void) {
    int fd = atomic_load_explicit(&guard_fd, memory_order_acquire);
    if (fd < 0) {
        return;
    }
    /* Discards typed input, which must not reach the shell as a command. TCSAFLUSH would do it too,
       but waits while the terminal's output is stopped. */
    tcflush(fd, TCIFLUSH);
    tcsetattr(fd, TCSANOW, &guard_saved);
    write_or_drop(fd, "\n", 1);
}

static void put_screen_back(void) {
    int fd = atomic_load_explicit(&screen_fd, memory_order_acquire);
    if (fd < 0) {
        return;
    }
    write_or_drop(fd, screen_leave, screen_leave_length);
    tcflush(fd, TCIFLUSH);
    tcsetattr(fd, TCSANOW, &screen_saved);
}

static void wake_screen(void) {
    int fd = atomic_load_explicit(&screen_wake, memory_order_acquire);
    if (fd >= 0) {
        zg_wake(fd);
    }
}

/* Ends the process by the signal's default action. Returns only in the init process of a container,
   for which the kernel has no default actions. */
static void die_of(int signal_number) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    sigaction(signal_number, &action, NULL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    raise(signal_number);
    /* A handler runs with all signals blocked. */
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void end_by(int signal_number) {
    put_terminal_back();
    put_screen_back();
    size_t length = atomic_load_explicit(&last_words_length, memory_order_acquire);
    if (length > 0) {
        write_or_drop(STDERR_FILENO, last_words, length);
    }
    /* A shell ends its script or loop only if the interrupted program died of SIGINT. */
    if (signal_number == SIGINT) {
        die_of(signal_number);
    }
    _exit(128 + signal_number);
}

static void handle_interrupt(int signal_number) {
    int kept = errno;
    if (atomic_load(&deferred_sections) > 0) {
        int before = atomic_exchange(&noted_signal, signal_number);
        /* A second interrupt of a full screen must not wait. */
        if (before <= 0 || atomic_load(&screen_fd) < 0) {
            wake_screen();
            errno = kept;
            return;
        }
    }
    end_by(signal_number);
}

static void set_action(int signal_number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    /* Restarting keeps a deferred section's file writes complete. */
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

/* Sets the prompt's modes and writes it again, unless both are still in place. */
static void take_terminal_again(void) {
    int fd = atomic_load_explicit(&guard_fd, memory_order_acquire);
    if (fd < 0) {
        return;
    }
    /* In the background the terminal belongs to others; the read will stop us again. A terminal
       that does not control this process has no background. */
    pid_t foreground = tcgetpgrp(fd);
    if (foreground >= 0 && foreground != getpgrp()) {
        return;
    }
    struct termios now;
    if (tcgetattr(fd, &now) == 0 && now.c_lflag == guard_active.c_lflag) {
        return;
    }
    tcsetattr(fd, TCSANOW, &guard_active);
    write_or_drop(fd, guard_prompt, guard_prompt_length);
}

static void handle_stop(int signal_number) {
    int kept = errno;
    put_terminal_back();
    set_action(signal_number, SIG_DFL);
    sigset_t one, before;
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    raise(signal_number);
    /* Stops here until SIGCONT; does nothing in an orphaned process group. */
    pthread_sigmask(SIG_UNBLOCK, &one, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    set_action(signal_number, handle_stop);
    take_terminal_again();
    errno = kept;
}

static void handle_continue(int signal_number) {
    (void)signal_number;
    int kept = errno;
    take_terminal_again();
    errno = kept;
}

static int index_of(int signal_number) {
    for (int i = 0; i < GUARDED_SIGNALS; i++) {
        if (guarded_signals[i] == signal_number) {
            return i;
        }
    }
    return -1;
}

static void set_action_unless_ignored(int signal_number, void (*handler)(int)) {
    int index = index_of(signal_number);
    if (index < 0 || found_actions[index].sa_handler == SIG_IGN) {
        return;
    }
    set_action(signal_number, handler);
}

static int install_locked(void) {
    if (installed) {
        return 0;
    }
    if (pthread_sigmask(SIG_SETMASK, NULL, &found_mask) != 0) {
        return -1;
    }
    for (int i = 0; i < GUARDED_SIGNALS; i++) {
        if (sigaction(guarded_signals[i], NULL, &found_actions[i]) != 0) {
            return -1;
        }
    }
    installed = true;
    set_action_unless_ignored(SIGHUP, handle_interrupt);
    set_action_unless_ignored(SIGINT, handle_interrupt);
    set_action_unless_ignored(SIGQUIT, handle_interrupt);
    set_action_unless_ignored(SIGTERM, handle_interrupt);
    set_action_unless_ignored(SIGPIPE, SIG_IGN);
    /* If SIGCHLD is ignored, the kernel keeps no exit codes of children. */
    set_action(SIGCHLD, SIG_DFL);
    return 0;
}

static void restore_action_locked(int signal_number) {
    if (installed) {
        sigaction(signal_number, &found_actions[index_of(signal_number)], NULL);
    }
}

int zg_install_interrupt_handlers(void) {
    pthread_mutex_lock(&state_lock);
    int result = install_locked();
    pthread_mutex_unlock(&state_lock);
    return result;
}

void zg_set_last_words(const char *text, size_t length) {
    atomic_store_explicit(&last_words_length, 0, memory_order_release);
    if (length > LAST_WORDS_CAPACITY) {
        length = LAST_WORDS_CAPACITY;
    }
    memcpy(last_words, text, length);
    atomic_store_explicit(&last_words_length, length, memory_order_release);
}

/* The signal is blocked until the handler returns; the original action takes it then. */
static void handle_crash(int signal_number) {
    put_terminal_back();
    put_screen_back();
    for (int i = 0; i < CRASH_SIGNALS; i++) {
        if (crash_signals[i] == signal_number) {
            sigaction(signal_number, &found_crash_actions[i], NULL);
        }
    }
    raise(signal_number);
}

static void handle_crashes_locked(bool handles) {
    if (handles == handles_crashes) {
        return;
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle_crash;
    /* On the alternate stack, where a thread has one. */
    action.sa_flags = SA_ONSTACK;
    sigfillset(&action.sa_mask);
    for (int i = 0; i < CRASH_SIGNALS; i++) {
        if (handles) {
            sigaction(crash_signals[i], &action, &found_crash_actions[i]);
        } else {
            sigaction(crash_signals[i], &found_crash_actions[i], NULL);
        }
    }
    handles_crashes = handles;
}

int zg_terminal_guard_set(int fd, const struct termios *saved, const struct termios *active,
                          const char *prompt, size_t prompt_length) {
    pthread_mutex_lock(&state_lock);
    if (install_locked() != 0) {
        pthread_mutex_unlock(&state_lock);
        return -1;
    }
    atomic_store_explicit(&guard_fd, -1, memory_order_release);
    guard_saved = *saved;
    guard_active = *active;
    guard_prompt_length = 0;
    if (prompt != NULL) {
        guard_prompt_length = prompt_length < PROMPT_CAPACITY ? prompt_length : PROMPT_CAPACITY;
        memcpy(guard_prompt, prompt, guard_prompt_length);
    }
    atomic_store_explicit(&guard_fd, fd, memory_order_release);
    set_action_unless_ignored(SIGTSTP, handle_stop);
    set_action_unless_ignored(SIGCONT, handle_continue);
    handle_crashes_locked(true);
    pthread_mutex_unlock(&state_lock);
    return 0;
}

void zg_terminal_guard_clear(void) {
    pthread_mutex_lock(&state_lock);
    atomic_store_explicit(&guard_fd, -1, memory_order_release);
    handle_crashes_locked(atomic_load(&screen_fd) >= 0);
    restore_action_locked(SIGTSTP);
    restore_action_locked(SIGCONT);
    pthread_mutex_unlock(&state_lock);
}

void zg_interrupts_defer(void) {
    atomic_fetch_add(&deferred_sections, 1);
}

void zg_interrupts_resume(void) {
    atomic_fetch_sub(&deferred_sections, 1);
}

/* A handler, because a child would inherit SIG_IGN. */
static void handle_key(int signal_number) {
    (void)signal_number;
}

void zg_interrupts_pause_keys(void) {
    pthread_mutex_lock(&state_lock);
    if (install_locked() == 0) {
        set_action_unless_ignored(SIGINT, handle_key);
        set_action_unless_ignored(SIGQUIT, handle_key);
    }
    pthread_mutex_unlock(&state_lock);
}

void zg_interrupts_resume_keys(void) {
    pthread_mutex_lock(&state_lock);
    if (installed) {
        set_action_unless_ignored(SIGINT, handle_interrupt);
        set_action_unless_ignored(SIGQUIT, handle_interrupt);
    }
    pthread_mutex_unlock(&state_lock);
}

int zg_interrupted(void) {
    return atomic_load(&noted_signal);
}

void zg_end_if_interrupted(void) {
    int signal_number = atomic_load(&noted_signal);
    if (signal_number > 0 && !(signal_number == SIGINT && atomic_load(&returns_to_screen))) {
        end_by(signal_number);
    }
}

void zg_interrupts_return_begin(void) {
    atomic_store(&returns_to_screen, true);
}

void zg_interrupts_return_end(void) {
    atomic_store(&returns_to_screen, false);
    int interrupt = SIGINT;
    atomic_compare_exchange_strong(&noted_signal, &interrupt, 0);
}

bool zg_interrupts_returns(void) {
    return atomic_load(&returns_to_screen);
}

void zg_interrupts_note_end(void) {
    int none = 0;
    atomic_compare_exchange_strong(&noted_signal, &none, -1);
}

void zg_interrupts_forget_end(void) {
    int end = -1;
    atomic_compare_exchange_strong(&noted_signal, &end, 0);
}

int zg_terminal_size(int fd, int *columns, int *rows) {
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
        return -1;
    }
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}

int zg_wake_open(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void zg_wake(int fd) {
    uint64_t one = 1;
    write_or_drop(fd, &one, sizeof one);
}

static void handle_screen_signal(int signal_number) {
    int kept = errno;
    if (signal_number == SIGTSTP) {
        atomic_fetch_or(&screen_noted, ZG_SCREEN_STOP);
    } else if (signal_number == SIGCONT) {
        atomic_fetch_or(&screen_noted, ZG_SCREEN_CONTINUED);
    }
    wake_screen();
    errno = kept;
}

int zg_screen_signals_set(int fd, int wake, const struct termios *saved, const char *leave,
                          size_t leave_length) {
    pthread_mutex_lock(&state_lock);
    if (install_locked() != 0) {
        pthread_mutex_unlock(&state_lock);
        return -1;
    }
    atomic_store_explicit(&screen_fd, -1, memory_order_release);
    screen_saved = *saved;
    screen_leave_length =
        leave_length < SCREEN_LEAVE_CAPACITY ? leave_length : SCREEN_LEAVE_CAPACITY;
    memcpy(screen_leave, leave, screen_leave_length);
    atomic_store(&screen_noted, 0);
    atomic_store_explicit(&screen_wake, wake, memory_order_release);
    atomic_store_explicit(&screen_fd, fd, memory_order_release);
    set_action_unless_ignored(SIGTSTP, handle_screen_signal);
    set_action_unless_ignored(SIGCONT, handle_screen_signal);
    set_action(SIGWINCH, handle_screen_signal);
    handle_crashes_locked(true);
    pthread_mutex_unlock(&state_lock);
    return 0;
}

void zg_screen_signals_clear(void) {
    pthread_mutex_lock(&state_lock);
    atomic_store_explicit(&screen_fd, -1, memory_order_release);
    handle_crashes_locked(atomic_load(&guard_fd) >= 0);
    restore_action_locked(SIGTSTP);
    restore_action_locked(SIGCONT);
    restore_action_locked(SIGWINCH);
    pthread_mutex_unlock(&state_lock);
}

void zg_screen_forget_wake(void) {
    atomic_store_explicit(&screen_wake, -1, memory_order_release);
}

int zg_screen_noted(void) {
    return atomic_exchange(&screen_noted, 0);
}

void zg_screen_stop(void) {
    /* To this thread: the others stop with it, and none continues before it. */
    raise(SIGTSTP);
}

int zg_restore_signal_state(void) {
    int result = 0;
    pthread_mutex_lock(&state_lock);
    if (installed) {
        for (int i = 0; i < GUARDED_SIGNALS; i++) {
            if (sigaction(guarded_signals[i], &found_actions[i], NULL) != 0) {
                result = -1;
            }
        }
        if (pthread_sigmask(SIG_SETMASK, &found_mask, NULL) != 0) {
            result = -1;
        }
        installed = false;
    }
    pthread_mutex_unlock(&state_lock);
    return result;
}
