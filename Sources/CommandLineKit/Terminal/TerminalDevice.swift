import CLinux
import Glibc
internal import JSON

/// The `errno` of the call before. A function, since Swift may not take the C macro's place twice.
func currentErrno() -> Int32 {
    errno
}

/// A terminal to ask at. Prompts never go through the standard input, which may hold data.
package struct TerminalDevice: ~Copyable {
    /// Where a process finds its controlling terminal.
    package static let controllingTerminal = "/dev/tty"

    let descriptor: Int32
    /// Whether the terminal understands escape sequences, so that an answered prompt is erased.
    let erasesPrompts: Bool

    /// Opens a terminal; its descriptor is closed with the value and never inherited.
    ///
    /// - Parameters:
    ///   - path: A terminal device, commonly ``controllingTerminal``.
    ///   - erasesPrompts: False for a terminal without escape sequences (`TERM=dumb`).
    /// - Throws: ``TerminalError/noTerminal(errno:)``.
    package init(
        opening path: String = Self.controllingTerminal, erasesPrompts: Bool = true
    ) throws(TerminalError) {
        let flags = O_RDWR | O_NOCTTY | O_CLOEXEC
        let opened = unsafe open(path, flags)
        guard opened >= 0 else { throw .noTerminal(errno: errno) }
        guard isatty(opened) == 1 else {
            let code = errno
            close(opened)
            throw .noTerminal(errno: code)
        }
        descriptor = opened
        self.erasesPrompts = erasesPrompts
    }

    deinit {
        close(descriptor)
    }

    /// Whether a descriptor is a terminal.
    package static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Columns of the terminal behind a descriptor, or nil when there is none or it does not know.
    package static func columns(_ descriptor: Int32) -> Int? {
        let columns = zg_terminal_columns(descriptor)
        return columns > 0 ? Int(columns) : nil
    }

    /// Writes a text to the terminal.
    func write(_ text: String) throws(TerminalError) {
        let output = OutputStream(descriptor: descriptor)
        do throws(OutputError) {
            try output.write(text)
            try output.flush()
        } catch .system(let code) {
            throw .system(errno: code)
        } catch {
            throw .endOfInput
        }
    }

    /// Waits until there is input.
    ///
    /// - Parameter milliseconds: Longest wait, or nil for none.
    /// - Returns: Whether there is input, or the terminal went away.
    /// - Throws: ``TerminalError/interrupted`` when a signal was noted.
    func waitForInput(milliseconds: Int32? = nil) throws(TerminalError) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            // Another thread may have got the signal, so this wait is not cut short by it.
            let ready = unsafe poll(&entry, 1, milliseconds ?? Self.sliceMilliseconds)
            if ready < 0, errno != EINTR { throw .system(errno: errno) }
            if ready > 0 { return true }
            if Interrupts.pending != nil { throw .interrupted }
            if ready == 0, milliseconds != nil { return false }
        }
    }

    /// How often a wait looks whether a signal was noted.
    private static let sliceMilliseconds: Int32 = 200
}
