internal import CLinux
internal import Glibc
internal import Sealing
internal import Searching

/// Forwards one output of a supervised program with values masked.
final class RedactedStream {
    /// Bytes that a writable pipe takes without blocking (PIPE_BUF).
    private static let portion = 4096

    /// The descriptor to read; -1 after the end.
    private(set) var source: Int32
    let destination: Int32
    private var redactor: Redactor
    /// Whether both ends are terminals.
    private let isInteractive: Bool
    /// Whether a carriage return is held back because a line feed may follow.
    private var hasHeldReturn = false
    /// Masked output that is not yet written.
    private var pending: [UInt8] = []
    private var written = 0
    /// Why output was lost, as an errno; nil if none was.
    private(set) var failure: Int32?

    /// Takes ownership of `source`.
    init(
        from source: Int32, to destination: Int32, _ patterns: ValuePatterns,
        isInteractive: Bool
    ) throws {
        self.source = source
        self.destination = destination
        self.isInteractive = isInteractive
        redactor = try Redactor(patterns, isInteractive: isInteractive)
    }

    deinit { closeSource() }

    /// Whether there may be more input.
    var isOpen: Bool { source >= 0 }
    /// Whether output is pending, during which nothing is read.
    var hasOutput: Bool { written < pending.count }
    /// When held back bytes must be released.
    var deadline: UInt64? { hasOutput ? nil : redactor.deadline }

    /// Reads once and returns whether there was any input.
    @discardableResult
    func read(at time: UInt64) -> Bool {
        var number: Int32 = 0
        let descriptor = source
        let count = redactor.take(at: time) { memory in
            unsafe memory.withUnsafeMutableBytes { bytes in
                let count = unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
                number = errno
                return count
            }
        }
        if count > 0 {
            release(at: time)
            return true
        }
        if count < 0, number == EAGAIN || number == EINTR { return false }
        // A terminal whose other end is closed fails instead of returning 0.
        end()
        return false
    }

    /// Releases bytes that were held back long enough.
    func release(at time: UInt64) {
        redactor.release(at: time) { keep($0) }
    }

    /// Closes the source and releases everything.
    func end() {
        closeSource()
        redactor.finish { keep($0) }
        keepHeldReturn()
    }

    private func keep(_ bytes: RawSpan) {
        guard isInteractive else {
            unsafe bytes.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
            return
        }
        let isUndone = addsReturns
        for index in 0..<bytes.byteCount {
            let byte = bytes.byte(at: index)
            if hasHeldReturn, !(isUndone && byte == 0x0A) { pending.append(0x0D) }
            hasHeldReturn = byte == 0x0D
            if !hasHeldReturn { pending.append(byte) }
        }
        // A return need not wait for what follows unless the terminal adds returns.
        if !isUndone { keepHeldReturn() }
    }

    private func keepHeldReturn() {
        if hasHeldReturn { pending.append(0x0D) }
        hasHeldReturn = false
    }

    /// Whether the terminal now adds a carriage return to each line feed, as the pseudo-terminal
    /// has already done. It does not in raw mode.
    private var addsReturns: Bool {
        var modes = termios()
        guard unsafe tcgetattr(destination, &modes) == 0 else { return false }
        return modes.c_oflag & tcflag_t(OPOST) != 0 && modes.c_oflag & tcflag_t(ONLCR) != 0
    }

    /// Writes pending output once.
    func write() {
        let count = unsafe pending.withUnsafeBytes { bytes in
            unsafe Glibc.write(
                destination, bytes.baseAddress.map { unsafe $0 + written },
                min(bytes.count - written, Self.portion))
        }
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return }
            failure = errno
            // The program gets the same error on its next write as without zg-env in between.
            closeSource()
            forget()
            return
        }
        written += count
        if written == pending.count { forget() }
    }

    /// Wipes the output, which may contain parts of values.
    private func forget() {
        unsafe pending.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { unsafe explicit_bzero(base, bytes.count) }
        }
        pending.removeAll(keepingCapacity: pending.capacity <= 1 << 20)
        written = 0
    }

    private func closeSource() {
        if source >= 0 { close(source) }
        source = -1
    }
}
