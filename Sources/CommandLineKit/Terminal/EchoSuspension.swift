import CLinux
import Glibc

/// Keeps a terminal's echo off after a hidden prompt, while the program still works on the answer.
///
/// Otherwise keys typed during a slow key derivation would show, and a shell would read them as a
/// command. A signal restores the terminal too, as during the prompt.
package final class EchoSuspension {
    /// Of its own: the guard must not use one that the prompt closes.
    let descriptor: Int32
    private let saved: termios
    private var isActive = true

    /// - Parameter terminal: A terminal in the modes of a hidden prompt.
    init(
        _ terminal: borrowing TerminalDevice, restoring saved: termios
    ) throws(TerminalError) {
        descriptor = fcntl(terminal.descriptor, F_DUPFD_CLOEXEC, 3)
        self.saved = saved
        guard descriptor >= 0 else {
            isActive = false
            throw .system(errno: errno)
        }
    }

    deinit {
        end()
        if descriptor >= 0 { close(descriptor) }
    }

    /// Drops what was typed since the prompt, and restores the terminal.
    package func end() {
        guard isActive else { return }
        isActive = false
        defer { zg_terminal_guard_clear() }
        var modes = saved
        while unsafe tcsetattr(descriptor, TCSAFLUSH, &modes) != 0, errno == EINTR {}
    }
}
