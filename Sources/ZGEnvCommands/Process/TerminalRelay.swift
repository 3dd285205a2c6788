internal import CLinux
internal import Glibc

/// Between the user's terminal and the pseudo-terminal of a supervised program: keys go there, and so
/// does the size.
///
/// The user's terminal is in raw mode only while the program has it, and put back when the program
/// stops or ends.
final class TerminalRelay {
    /// Our end of the pseudo-terminal. It belongs to the stream that reads it.
    private let controller: Int32
    /// The terminal that shows the program's output.
    private let screen: Int32
    /// Where keys come from; -1 where there is no terminal to type at.
    private let keyboard: Int32
    private let ownsKeyboard: Bool
    private var found = termios()
    private(set) var isRaw = false
    /// Keys that the pseudo-terminal has no room for yet.
    private var typed: [UInt8] = []
    /// Whether the program reads keys: from the start where it has the terminal as stdin and stdout,
    /// else once it tries to. Until then they are for others of its pipeline.
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
        putBack()
        if ownsKeyboard { close(keyboard) }
    }

    /// Whether the terminal is ours to read and to set. One that does not control this process knows
    /// no background.
    var isForeground: Bool {
        guard keyboard >= 0 else { return true }
        let group = tcgetpgrp(keyboard)
        return group < 0 || group == getpgrp()
    }

    /// The descriptor to read keys from now; nil for none.
    var input: Int32? { isRaw && typed.isEmpty ? keyboard : nil }
    /// Whether keys wait for room.
    var hasKeys: Bool { !typed.isEmpty }

    /// Takes the terminal where the program wants keys and it is ours.
    ///
    /// - Returns: Whether it was taken now.
    func take() -> Bool {
        if isRaw, !isForeground { isRaw = false }
        guard wantsKeys, keyboard >= 0, !isRaw, isForeground else { return false }
        copySize()
        var modes = found
        unsafe cfmakeraw(&modes)
        isRaw = unsafe tcsetattr(keyboard, TCSANOW, &modes) == 0
        return true
    }

    /// Puts the modes back that were found.
    func putBack() {
        guard isRaw else { return }
        isRaw = false
        guard isForeground else { return }
        _ = unsafe tcsetattr(keyboard, TCSANOW, &found)
    }

    /// Gives the pseudo-terminal the size of the screen; the kernel tells the program.
    func copySize() {
        zg_copy_terminal_size(screen, controller)
    }

    /// Reads keys.
    func read() {
        var keys = [UInt8](repeating: 0, count: 1024)
        let count = unsafe Glibc.read(keyboard, &keys, keys.count)
        if count > 0 {
            typed = Array(keys[..<count])
            write()
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            // The terminal went away.
            isRaw = false
            wantsKeys = false
        }
        unsafe keys.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { unsafe explicit_bzero(base, bytes.count) }
        }
    }

    /// Hands keys on.
    func write() {
        let count = unsafe Glibc.write(controller, typed, typed.count)
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { typed = [] }
            return
        }
        typed.removeFirst(count)
    }
}
