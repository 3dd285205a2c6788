import CLinux
import Glibc
internal import JSON

/// A terminal for prompts. Prompts never read the standard input, which may carry data.
package struct TerminalDevice: ~Copyable {
    package static let controllingTerminal = "/dev/tty"

    let descriptor: Int32
    /// Whether the terminal supports escape sequences, so that an answered prompt is erased.
    let erasesPrompts: Bool

    /// Opens a terminal. Its descriptor is closed with the value and not inherited by children.
    ///
    /// - Parameters:
    ///   - path: A terminal device, usually ``controllingTerminal``.
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

    package static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Returns the number of columns of a terminal; nil if it is unknown or not a terminal.
    package static func columns(_ descriptor: Int32) -> Int? {
        let columns = zg_terminal_columns(descriptor)
        return columns > 0 ? Int(columns) : nil
    }

    func write(_ text: String) throws(TerminalError) {
        unsafe try write(text.utf8Span.span.bytes)
    }

    /// Writes bytes, such as a value in guarded memory, without a copy that stays behind.
    package func write(_ bytes: RawSpan) throws(TerminalError) {
        do throws(OutputError) {
            try OutputStream(descriptor: descriptor).writeDirectly(bytes)
        } catch .system(let code) {
            throw .system(errno: code)
        } catch {
            throw .endOfInput
        }
    }

    /// Waits until there is input.
    ///
    /// - Parameter milliseconds: The timeout, or nil for none.
    /// - Returns: False after a timeout; true for input or a closed terminal.
    /// - Throws: ``TerminalError/interrupted`` when a signal was recorded.
    func waitForInput(milliseconds: Int32? = nil) throws(TerminalError) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            // Another thread may have received the signal, which does not end this poll.
            let ready = unsafe poll(&entry, 1, milliseconds ?? Self.sliceMilliseconds)
            if ready < 0, errno != EINTR { throw .system(errno: errno) }
            if ready > 0 { return true }
            if Interrupts.pending != nil { throw .interrupted }
            if ready == 0, milliseconds != nil { return false }
        }
    }

    /// How often a wait checks for a recorded signal.
    private static let sliceMilliseconds: Int32 = 200
}
