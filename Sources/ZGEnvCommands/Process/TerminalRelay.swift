internal import CLinux
internal import Glibc

/// Forwards keys and the window size from the user's terminal to the pseudo-terminal of a
/// supervised program.
///
/// The user's terminal is in raw mode only while the program has it, and restored when the program
/// stops or ends.
final class TerminalRelay {
    /// Our end of the pseudo-terminal, owned by the stream that reads it.
    private let controller: Int32
    /// The terminal that shows the program's output.
    private let screen: Int32
    /// The terminal that keys come from, or -1.
    private let keyboard: Int32
    private let ownsKeyboard: Bool
    private var found = termios()
    private(set) var isRaw = false
    /// Keys that wait for room in the pseudo-terminal.
    private var typed: [UInt8] = []
    /// Whether the program reads keys: from the start if the terminal is its stdin and stdout, else
    /// after it first tries to. Until then the keys are for other programs of the pipeline.
    var wantsKeys: Bool

    init(controller: Int32, screen: Int32) {
        self.controller = controller
        self.screen = screen
        let controlling = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        ownsKeyboard = controlling >= 0
        keyboard = ownsKeyboard ? controlling : isatty(0) == 1 ? 0 : -1
        wantsKeys = isatty(0) == 1 && isatty(1) == 1
        if unsafe keyboard >= 0 && tcgetattr(keyboard, &found) != 0 { wantsKeys = false }
    }

    deinit {
        restoreOriginal()
        if ownsKeyboard { close(keyboard) }
    }

    /// Whether this process may use the terminal: it is in the foreground, or the terminal does not
    /// control it.
    var isForeground: Bool {
        guard keyboard >= 0 else { return true }
        let group = tcgetpgrp(keyboard)
        return group < 0 || group == getpgrp()
    }

    /// The descriptor to read keys from; nil if none are wanted now.
    var input: Int32? { isRaw && typed.isEmpty ? keyboard : nil }
    var hasKeys: Bool { !typed.isEmpty }

    /// Switches the terminal to raw mode if the program wants keys and this process may use it.
    ///
    /// - Returns: Whether this call switched it.
    func take() -> Bool {
        if isRaw, !isForeground { isRaw = false }
        guard wantsKeys, keyboard >= 0, !isRaw, isForeground else { return false }
        copySize()
        var modes = found
        unsafe cfmakeraw(&modes)
        isRaw = unsafe tcsetattr(keyboard, TCSANOW, &modes) == 0
        return true
    }

    /// Restores the original modes.
    func restoreOriginal() {
        guard isRaw else { return }
        isRaw = false
        guard isForeground else { return }
        _ = unsafe tcsetattr(keyboard, TCSANOW, &found)
    }

    /// Copies the window size to the pseudo-terminal; the kernel notifies the program.
    func copySize() {
        zg_copy_terminal_size(screen, controller)
    }

    /// Reads keys and forwards them.
    func read() {
        var keys = [UInt8](repeating: 0, count: 1024)
        let count = unsafe Glibc.read(keyboard, &keys, keys.count)
        if count > 0 {
            typed = Array(keys[..<count])
            write()
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            // The terminal was closed.
            isRaw = false
            wantsKeys = false
        }
        unsafe keys.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { unsafe explicit_bzero(base, bytes.count) }
        }
    }

    /// Writes waiting keys to the pseudo-terminal.
    func write() {
        let count = unsafe Glibc.write(controller, typed, typed.count)
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { typed = [] }
            return
        }
        typed.removeFirst(count)
    }
}
