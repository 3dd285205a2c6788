internal import CLinux
internal import Glibc
internal import Sealing
internal import Searching

/// One output of a supervised program on its way to ours, values masked.
final class RedactedStream {
    /// What a pipe that can be written at all takes without waiting (PIPE_BUF).
    private static let portion = 4096

    /// The end that is read; -1 once there is no more.
    private(set) var source: Int32
    let destination: Int32
    private var redactor: Redactor
    /// Whether both ends are terminals.
    private let isInteractive: Bool
    /// A carriage return at the end of what came, which a line feed may follow.
    private var hasHeldReturn = false
    /// Masked text that was not written yet.
    private var pending: [UInt8] = []
    private var written = 0

    /// Takes the descriptor `source` over.
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

    /// Whether more may come.
    var isOpen: Bool { source >= 0 }
    /// Whether something waits to be written; nothing is read meanwhile.
    var hasOutput: Bool { written < pending.count }
    /// When held back bytes are to be let go.
    var deadline: UInt64? { hasOutput ? nil : redactor.deadline }

    /// Reads once. Returns whether there was anything.
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
        // A terminal whose other side is closed fails rather than end.
        end()
        return false
    }

    /// Lets go what was held back long enough.
    func release(at time: UInt64) {
        redactor.release(at: time) { keep($0) }
    }

    /// Takes no more, and lets everything go.
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
        // What is not undone need not wait for what follows.
        if !isUndone { keepHeldReturn() }
    }

    private func keepHeldReturn() {
        if hasHeldReturn { pending.append(0x0D) }
        hasHeldReturn = false
    }

    /// Whether the terminal puts a carriage return before each line feed now, as the pseudo-terminal
    /// did already. It does not while it is in raw mode for the program's keys.
    private var addsReturns: Bool {
        var modes = termios()
        guard unsafe tcgetattr(destination, &modes) == 0 else { return false }
        return modes.c_oflag & tcflag_t(OPOST) != 0 && modes.c_oflag & tcflag_t(ONLCR) != 0
    }

    /// Writes once.
    func write() {
        let count = unsafe pending.withUnsafeBytes { bytes in
            unsafe Glibc.write(
                destination, bytes.baseAddress.map { unsafe $0 + written },
                min(bytes.count - written, Self.portion))
        }
        if count < 0 {
            if errno == EAGAIN || errno == EINTR { return }
            // Whoever writes on finds that nobody reads, as without us in between.
            closeSource()
            forget()
            return
        }
        written += count
        if written == pending.count { forget() }
    }

    /// Values may have been let go in parts.
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
