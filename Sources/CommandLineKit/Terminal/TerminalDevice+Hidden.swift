import CLinux
import Glibc

extension TerminalDevice {
    /// How long after Enter more input still counts as part of the same paste.
    static let pasteMilliseconds: Int32 = 25
    private static let chunkSize = 256

    /// Asks for a secret without echo, and stores it only in the caller's buffer.
    ///
    /// Enter ends the input, and so does `^D` after something was typed. Backspace and `^U` edit. Escape cancels in a section of
    /// ``Interrupts/returningToScreen(_:)``. Input from before the prompt is dropped. The terminal is always
    /// restored, even when a signal ends or stops the process: this installs the handlers of
    /// ``Interrupts``.
    ///
    /// - Parameters:
    ///   - prompt: Shown on one line, sanitized.
    ///   - buffer: Its size limits the input. It is zeroed after an error.
    /// - Returns: The number of bytes stored at the start of the buffer; 0 for Enter alone.
    package func readHidden(
        prompt: String, into buffer: inout MutableRawSpan
    ) throws(TerminalError) -> Int {
        var silence: EchoSuspension?
        let count = try readHidden(prompt: prompt, into: &buffer, keepingEchoOff: &silence)
        silence?.end()
        return count
    }

    /// Asks for a secret as ``readHidden(prompt:into:)`` does, and leaves the echo off.
    ///
    /// - Parameter silence: Set on success; restores the terminal when it ends.
    package func readHidden(
        prompt: String, into buffer: inout MutableRawSpan,
        keepingEchoOff silence: inout EchoSuspension?
    ) throws(TerminalError) -> Int {
        // Two of them would restore each other's modes.
        silence?.end()
        var saved = termios()
        guard unsafe tcgetattr(descriptor, &saved) == 0 else { throw .system(errno: errno) }
        let active = Self.hidden(saved)
        let returns = Interrupts.returnsToScreen
        let text = DisplayText.safe(
            returns && prompt.hasSuffix(": ") ? "\(prompt.dropLast(2)) (Esc cancels): " : prompt)
        try Self.guardTerminal(descriptor, saved, active, prompt: text)
        do throws(TerminalError) {
            try setModes(active)
            try write(text)
            let count = try readLine(
                controls(of: saved), cancelsByEscape: returns, into: &buffer)
            try erasePrompt()
            // A stop and a continuation must not show the answered prompt again.
            let suspension = try EchoSuspension(self, restoring: saved)
            try Self.guardTerminal(suspension.descriptor, saved, active, prompt: "")
            silence = suspension
            return count
        } catch {
            Self.wipe(&buffer)
            // The first error is the cause.
            try? leave(saved)
            throw error
        }
    }

    /// The modes of a hidden prompt: no echo, no canonical mode, but keyboard signals.
    private static func hidden(_ saved: termios) -> termios {
        var modes = saved
        modes.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON)
        modes.c_lflag |= tcflag_t(ISIG)
        unsafe withUnsafeMutableBytes(of: &modes.c_cc) { controls in
            unsafe controls[Int(VMIN)] = 1
            unsafe controls[Int(VTIME)] = 0
        }
        return modes
    }

    /// Sets what a signal restores: see `zg_terminal_guard_set`.
    static func guardTerminal(
        _ descriptor: Int32, _ saved: termios, _ active: termios, prompt: String
    ) throws(TerminalError) {
        var (saved, active) = (saved, active)
        var prompt = prompt
        let result = prompt.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                unsafe zg_terminal_guard_set(
                    descriptor, &saved, &active, characters.baseAddress, characters.count)
            }
        }
        guard result == 0 else { throw .system(errno: errno) }
    }

    /// Sets the modes, drops unread input and verifies the modes: tcsetattr(3) succeeds when it can
    /// make any of the changes.
    private func setModes(_ modes: termios) throws(TerminalError) {
        var wanted = modes
        while unsafe tcsetattr(descriptor, TCSAFLUSH, &wanted) != 0 {
            guard errno == EINTR else { throw .system(errno: errno) }
        }
        var found = termios()
        guard unsafe tcgetattr(descriptor, &found) == 0 else { throw .system(errno: errno) }
        guard found.c_lflag == modes.c_lflag else { throw .system(errno: EIO) }
    }

    private func leave(_ saved: termios) throws(TerminalError) {
        defer { zg_terminal_guard_clear() }
        try setModes(saved)
        try erasePrompt()
    }

    private func erasePrompt() throws(TerminalError) {
        try write(erasesPrompts ? "\r\u{1B}[K" : "\n")
    }

    private func controls(of modes: termios) -> LineEditor.Controls {
        var modes = modes
        var controls = LineEditor.Controls()
        unsafe withUnsafeBytes(of: &modes.c_cc) { bytes in
            // Zero (_POSIX_VDISABLE) disables a control; it does not stand for a NUL byte.
            let erase = unsafe bytes[Int(VERASE)]
            if erase != 0 { controls.erase.append(erase) }
            let kill = unsafe bytes[Int(VKILL)]
            if kill != 0 { controls.kill = kill }
            let end = unsafe bytes[Int(VEOF)]
            if end != 0 { controls.endOfInput = end }
        }
        return controls
    }

    private func readLine(
        _ controls: LineEditor.Controls, cancelsByEscape: Bool, into buffer: inout MutableRawSpan
    ) throws(TerminalError) -> Int {
        var editor = LineEditor(controls: controls)
        let chunk = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.chunkSize, alignment: 1)
        defer {
            if let base = chunk.baseAddress { unsafe explicit_bzero(base, chunk.count) }
            unsafe chunk.deallocate()
        }
        while true {
            _ = try waitForInput()
            let count = unsafe read(descriptor, chunk.baseAddress, chunk.count)
            if count < 0 {
                guard errno == EINTR || errno == EAGAIN else { throw .system(errno: errno) }
                continue
            }
            guard count > 0 else { throw .endOfInput }
            // More bytes would make it an escape sequence, as of an arrow key.
            if cancelsByEscape, unsafe chunk[count - 1] == 0x1B,
                try !waitForInput(milliseconds: ScreenTerminal.sequenceMilliseconds)
            {
                throw .interrupted
            }
            for index in 0..<count {
                switch unsafe editor.take(chunk[index], into: &buffer) {
                case .needsMore: continue
                case .cancelled: throw .endOfInput
                case .done:
                    try checkEnd(
                        editor, hasMore: index + 1 < count, limit: buffer.byteCount)
                    return editor.count
                }
            }
        }
    }

    /// Throws if the secret is incomplete: the input had more lines or more bytes.
    private func checkEnd(
        _ editor: LineEditor, hasMore: Bool, limit: Int
    ) throws(TerminalError) {
        if hasMore { throw .severalLines }
        if try waitForInput(milliseconds: Self.pasteMilliseconds) { throw .severalLines }
        if editor.surplus > 0 { throw .tooLong(limit: limit) }
    }

    private static func wipe(_ buffer: inout MutableRawSpan) {
        unsafe buffer.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { unsafe explicit_bzero(base, bytes.count) }
        }
    }
}
