import CLinux
import Glibc

/// A terminal in full-screen mode: alternate screen, no line editing, no echo, no cursor.
///
/// The caller acts on signals: inside ``Interrupts/deferred(_:)`` each of them ends
/// ``wait(milliseconds:)``. A second interrupt there restores the terminal and ends the process.
package final class ScreenTerminal {
    /// What ended a wait.
    package struct News {
        /// Keys, in the order in which they were typed.
        package var keys: [TerminalKey] = []
        /// The user stopped the process (`^Z`): the caller must call ``ScreenTerminal/stop()``.
        package var wantsStop = false
        /// The terminal was closed.
        package var isGone = false
    }

    package struct Size: Equatable, Sendable {
        package var columns: Int
        package var rows: Int

        /// Raises values below 1 to 1.
        package init(columns: Int, rows: Int) {
            (self.columns, self.rows) = (max(columns, 1), max(rows, 1))
        }
    }

    /// How long to wait for the rest of an escape sequence: over a network its bytes can arrive
    /// one by one.
    static let sequenceMilliseconds: Int32 = 60
    // Turns line wrapping off: a character whose width the terminal sees differently must not shift
    // the following rows.
    private static let enterText = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[0m\u{1B}[2J"
    private static let leaveText = "\u{1B}[0m\u{1B}[2J\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l"

    private let device: TerminalDevice
    private let wakeDescriptor: Int32
    /// The terminal's modes at the first ``enter()``, which ``leave()`` restores.
    private var saved: termios?
    private var decoder = KeyDecoder()
    /// The text of each row; empty when unknown.
    private var shown: [String] = []
    private var isEntered = false

    /// Opens the controlling terminal without changing its modes.
    package init() throws(TerminalError) {
        device = try TerminalDevice()
        // No other process shares this open file description. A blocking write would delay the
        // handling of signals.
        _ = fcntl(device.descriptor, F_SETFL, O_RDWR | O_NONBLOCK)
        wakeDescriptor = zg_wake_open()
        guard wakeDescriptor >= 0 else { throw .system(errno: errno) }
    }

    deinit {
        leave()
        zg_screen_forget_wake()
        close(wakeDescriptor)
    }

    /// The current size; 80 by 24 when unknown.
    package var size: Size {
        var (columns, rows): (Int32, Int32) = (80, 24)
        _ = unsafe zg_terminal_size(device.descriptor, &columns, &rows)
        return Size(columns: Int(columns), rows: Int(rows))
    }

    /// Switches the terminal to full-screen mode.
    package func enter() throws(TerminalError) {
        guard !isEntered else { return }
        var found = termios()
        guard unsafe tcgetattr(device.descriptor, &found) == 0 else {
            throw .system(errno: errno)
        }
        // After a stop some shells restore the modes that they found when the process stopped.
        var saved = self.saved ?? found
        self.saved = saved
        var modes = saved
        modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | IEXTEN)
        // The terminal still turns ^C and ^Z into signals.
        modes.c_lflag |= tcflag_t(ISIG)
        modes.c_iflag &= ~tcflag_t(IXON)
        unsafe withUnsafeMutableBytes(of: &modes.c_cc) { controls in
            unsafe controls[Int(VMIN)] = 1
            unsafe controls[Int(VTIME)] = 0
        }
        let status = unsafe zg_screen_signals_set(
            device.descriptor, wakeDescriptor, &saved, Self.leaveText, Self.leaveText.utf8.count)
        guard status == 0 else { throw .system(errno: errno) }
        isEntered = true
        try set(modes)
        shown = []
        try write(Self.enterText)
    }

    /// Restores the terminal. Does nothing outside full-screen mode.
    package func leave() {
        guard isEntered else { return }
        isEntered = false
        // Fails when the terminal was closed, and there is nothing to restore then.
        try? write(Self.leaveText)
        tcflush(device.descriptor, TCIFLUSH)
        if let saved { try? set(saved) }
        zg_screen_signals_clear()
    }

    /// Stops the process as `^Z` does, with the terminal restored meanwhile.
    package func stop() throws(TerminalError) {
        leave()
        zg_screen_stop()
        try enter()
    }

    private func set(_ modes: termios) throws(TerminalError) {
        var modes = modes
        // TCSANOW: waiting for pending output could take forever.
        while unsafe tcsetattr(device.descriptor, TCSANOW, &modes) != 0 {
            guard errno == EINTR else { throw .system(errno: errno) }
        }
    }

    // MARK: Painting

    /// Paints lines from the first row on and clears the rest. Rows that did not change are not sent.
    ///
    /// - Parameter lines: Sanitized, no wider than the screen, and no more than it has rows.
    package func paint(_ lines: [String]) throws(TerminalError) {
        guard isEntered else { return }
        var text = ""
        let rows = max(lines.count, shown.count)
        for row in 0..<rows {
            let line = row < lines.count ? lines[row] : ""
            if row < shown.count, shown[row] == line { continue }
            // Erased first: after a full row the cursor is still on its last character.
            text += "\u{1B}[\(row + 1);1H\u{1B}[0m\u{1B}[2K\(line)"
        }
        shown = lines
        if !text.isEmpty { try write(text) }
    }

    /// Clears the screen; the next ``paint(_:)`` repaints every row.
    package func forget() throws(TerminalError) {
        guard isEntered else { return }
        shown = []
        try write("\u{1B}[0m\u{1B}[2J")
    }

    /// Writes secret bytes over the painted screen without copying them; ``forget()`` clears them
    /// from the screen.
    package func write(secret bytes: RawSpan) throws(TerminalError) {
        guard isEntered else { return }
        try unsafe bytes.withUnsafeBytes { (bytes) throws(TerminalError) in
            try unsafe write(bytes)
        }
    }

    private func write(_ text: String) throws(TerminalError) {
        let bytes = Array(text.utf8)
        try unsafe bytes.span.bytes.withUnsafeBytes { (bytes) throws(TerminalError) in
            try unsafe write(bytes)
        }
    }

    /// Writes all bytes. Waits for a terminal that accepts nothing (a hanging connection) until a
    /// signal arrives.
    private func write(_ bytes: UnsafeRawBufferPointer) throws(TerminalError) {
        var rest = unsafe bytes
        var patience = 3
        while rest.count > 0 {
            let written = unsafe Glibc.write(device.descriptor, rest.baseAddress, rest.count)
            if written > 0 { unsafe rest = .init(rebasing: rest[written...]) }
            guard written < 0, errno != EINTR else { continue }
            guard errno == EAGAIN else { throw .system(errno: errno) }
            var entry = pollfd(fd: device.descriptor, events: Int16(POLLOUT), revents: 0)
            _ = unsafe Glibc.poll(&entry, 1, 100)
            guard Interrupts.pending != nil else { continue }
            patience -= 1
            if patience == 0 { throw .interrupted }
        }
    }

    // MARK: Waiting

    /// Waits for a key, a signal or ``wake()``.
    package func wait(milliseconds: Int32) -> News {
        var news = News()
        let first = poll(decoder.isWaiting ? Self.sequenceMilliseconds : milliseconds)
        if !first.hasInput, decoder.isWaiting, let key = decoder.timeOut() { news.keys.append(key) }
        if first.hasInput { read(into: &news) }
        let noted = zg_screen_noted()
        news.wantsStop = noted & Int32(ZG_SCREEN_STOP) != 0
        if noted & Int32(ZG_SCREEN_CONTINUED) != 0, isEntered, !news.wantsStop {
            // Stopped by SIGSTOP: another program may have changed the terminal's modes.
            isEntered = false
            zg_screen_signals_clear()
            try? enter()
        }
        return news
    }

    /// Ends the current ``wait(milliseconds:)`` of another thread, or the next one.
    package func wake() { zg_wake(wakeDescriptor) }

    private func poll(_ milliseconds: Int32) -> (hasInput: Bool, wasWoken: Bool) {
        var entries = [
            pollfd(fd: device.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        guard unsafe Glibc.poll(&entries, 2, milliseconds) > 0 else { return (false, false) }
        if entries[1].revents != 0 {
            var count: UInt64 = 0
            _ = unsafe Glibc.read(wakeDescriptor, &count, 8)
        }
        return (entries[0].revents != 0, entries[1].revents != 0)
    }

    private func read(into news: inout News) {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = unsafe Glibc.read(device.descriptor, &bytes, bytes.count)
        if count > 0 {
            news.keys += decoder.take(bytes[..<count])
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            news.isGone = true
        }
    }
}
