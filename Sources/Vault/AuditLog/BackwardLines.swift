internal import CLinux

/// The lines of a log from the end, without line feeds.
struct BackwardLines {
    /// The bytes after the last line feed.
    private(set) var rest: [UInt8] = []
    /// The file offset of ``rest``.
    private(set) var restOffset: UInt64 = 0

    private let file: AuditLogFile
    /// The part of the file from `start` that was read.
    private var window: [UInt8] = []
    /// The length of the unread part of the window, which ends with a line feed. The window is not
    /// shortened: returned lines share its memory, so that would copy all of it.
    private var windowEnd = 0
    private var start: UInt64
    private var block = 4096

    /// Reads back to the last line feed.
    init(_ file: AuditLogFile) throws(VaultError) {
        self.file = file
        start = try file.byteCount()
        let end = start
        while start > 0, window.count <= AuditLine.lineLimit {
            try readBlock()
            if let feed = Self.lastLineFeed(in: window, before: windowEnd) {
                rest = Array(window[(feed + 1)...])
                restOffset = end - UInt64(rest.count)
                windowEnd = feed + 1
                return
            }
        }
        (rest, restOffset, window, windowEnd) = (window, start, [], 0)
        try skipLongLine()
    }

    /// Returns the previous line, an empty one if it is too long, or nil at the start.
    mutating func next() throws(VaultError) -> ArraySlice<UInt8>? {
        guard windowEnd > 0 else { return nil }
        while true {
            if let feed = Self.lastLineFeed(in: window, before: windowEnd - 1) {
                let line = window[(feed + 1)..<(windowEnd - 1)]
                windowEnd = feed + 1
                return line
            }
            if start == 0 {
                let line = window[..<(windowEnd - 1)]
                windowEnd = 0
                return line
            }
            if windowEnd > AuditLine.lineLimit {
                try skipLongLine()
                return []
            }
            try readBlock()
        }
    }

    /// Skips a line that is too long.
    private mutating func skipLongLine() throws(VaultError) {
        windowEnd = 0
        while start > 0 {
            try readBlock()
            if let feed = Self.lastLineFeed(in: window, before: windowEnd) {
                windowEnd = feed + 1
                return
            }
            windowEnd = 0
        }
    }

    /// Returns the offset of the last line feed in the first `end` bytes. Uses the C library,
    /// because lines are long.
    private static func lastLineFeed(in bytes: [UInt8], before end: Int) -> Int? {
        let offset = unsafe bytes.withUnsafeBytes {
            unsafe zg_last_offset($0.baseAddress, 0x0A, max(end, 0))
        }
        return offset < 0 ? nil : offset
    }

    /// Prepends the previous block to the window.
    private mutating func readBlock() throws(VaultError) {
        let count = Int(min(start, UInt64(block)))
        block = min(block * 2, 1 << 20)
        let bytes = try file.read(at: start - UInt64(count), upTo: count)
        guard bytes.count == count else {
            throw VaultError(.auditLog, "the audit log was truncated while it was being read")
        }
        start -= UInt64(count)
        window = windowEnd == 0 ? bytes : bytes + window[..<windowEnd]
        windowEnd += count
    }
}
