internal import Threads

extension AuditLog {
    /// The most lines that are held at once, and the bytes of the file after which no further one is
    /// read: a line can be ``AuditLine/lineLimit`` long, and holds the block that it is in.
    private static let (batchCount, batchByteCount): (Int, UInt64) = (2_048, 1 << 20)
    /// From this many lines on, two threads open half of them each.
    private static let togetherCount = 256

    /// A valid line.
    package struct Record: Equatable, Sendable {
        package let sequence: UInt64
        /// False for a wrong passphrase recorded without a key: it is unauthenticated until a
        /// sealed line follows.
        package let isSealed: Bool
        package let entry: AuditEntry
    }

    /// Checks every line and the whole chain, and compares the log with the index. Reads the file
    /// in blocks, ignoring what is appended meanwhile.
    ///
    /// - Parameter index: Must be opened before this call, so that the log can only have grown
    ///   since.
    /// - Returns: The problems found; they are not thrown.
    /// - Throws: ``VaultError/Code/auditLog`` if the file cannot be read.
    package func verify(with keys: VaultKeys, index: VaultIndex) throws(VaultError) -> AuditReport {
        try read(with: keys, index: index) { _ in }
    }

    /// Checks the log as ``verify(with:index:)`` does, and passes each valid line to `body`.
    package func read(
        with keys: VaultKeys, index: VaultIndex, _ body: (Record) -> Void
    ) throws(VaultError) -> AuditReport {
        var chain = Chain(
            vault: vaultID, keys: try AuditKeys(keys, index: index),
            recorded: index.metadata.audit)
        guard let file = try AuditLogFile.reading(path) else {
            chain.finish()
            return chain.report
        }
        chain.report.isThere = true
        var lines = ForwardLines(
            file, byteCount: try file.stableByteCount(lockSeconds: lockSeconds))
        let first = Part(vault: vaultID, keys: chain.keys)
        let other = Part(vault: vaultID, keys: try AuditKeys(keys, index: index))
        while true {
            var batch: [ArraySlice<UInt8>] = []
            let end = lines.offset + Self.batchByteCount
            while batch.count < Self.batchCount, lines.offset < end, let line = try lines.next() {
                batch.append(line)
            }
            if batch.isEmpty { break }
            let half = batch.count < Self.togetherCount ? batch.count : batch.count / 2
            first.texts = batch[..<half]
            first.previousTag = chain.previous.tag
            other.texts = batch[half...]
            other.previousTag = AuditLine(batch[half - 1])?.tag
            let thread = half < batch.count ? WorkThread { other.open() } : nil
            first.open()
            if let thread { thread.join() } else { other.open() }
            for line in first.lines + other.lines {
                if let record = try chain.take(line) { body(record) }
            }
            for part in [first, other] { part.clear() }
        }
        if !lines.rest.isEmpty {
            if !lines.isTooLong && AuditLine.isInterruptedWrite(lines.rest[...]) {
                chain.report.incompleteByteCount = lines.rest.count
            } else {
                _ = try chain.take(Read())
            }
        }
        chain.finish()
        return chain.report
    }

    /// A line of the file, opened as if it followed the line before it.
    private struct Read {
        /// nil if it is invalid.
        var line: AuditLine?
        var previousTag: [UInt8]?
        /// nil if the line does not follow, or was not opened.
        var entry: AuditEntry?
    }

    /// The lines that one thread opens. Its keys are its own.
    private final class Part: @unchecked Sendable {
        var texts: ArraySlice<ArraySlice<UInt8>> = []
        /// The tag of the line before the first; nil if that is invalid.
        var previousTag: [UInt8]?
        private(set) var lines: [Read] = []
        private let vault: Identifier
        private let keys: AuditKeys

        init(vault: Identifier, keys: AuditKeys) {
            (self.vault, self.keys) = (vault, keys)
        }

        func clear() { (texts, lines) = ([], []) }

        func open() {
            var tag = previousTag
            lines = texts.map { text in
                let line = AuditLine(text)
                // The chain opens the line again, and throws the error.
                let entry = line.flatMap { line in
                    tag.flatMap { try? line.entry(previousTag: $0, vault: vault, keys: keys) }
                }
                defer { tag = line?.tag }
                return Read(line: line, previousTag: tag, entry: entry)
            }
        }
    }

    /// Follows the chain from line to line.
    private struct Chain {
        let vault: Identifier
        let keys: AuditKeys
        let recorded: Position?
        var report = AuditReport()
        /// The last valid line.
        private(set) var previous = Position(sequence: 0, tag: AuditLog.noTag)
        /// The number of invalid lines since then, and the tag of the last of them.
        private var doubtful: (count: Int, tag: [UInt8]?) = (0, nil)
        private var lineNumber = 0
        private var isRecordedSeen = false

        init(vault: Identifier, keys: AuditKeys, recorded: Position?) {
            self.vault = vault
            self.keys = keys
            self.recorded = recorded
        }

        /// Processes the next line of the file. Returns nil if it is invalid.
        mutating func take(_ read: Read) throws(VaultError) -> Record? {
            lineNumber += 1
            guard let line = read.line, let (entry, restartsChain) = try opened(line, read) else {
                report.add(.damaged(line: lineNumber))
                doubtful = (doubtful.count + 1, read.line?.tag ?? doubtful.tag)
                return nil
            }
            if restartsChain { report.add(.missing(previous.sequence + 1...line.sequence - 1)) }
            previous = Position(sequence: line.sequence, tag: line.tag)
            doubtful = (0, nil)
            if let recorded, line.sequence == recorded.sequence {
                isRecordedSeen = true
                if line.tag != recorded.tag { report.add(.replaced(line.sequence)) }
            }
            if entry.kind == .acceptance { report.acceptProblems() }
            report.entryCount += 1
            report.end = previous
            return Record(sequence: line.sequence, isSealed: line.kind == .sealed, entry: entry)
        }

        /// Opens a line and returns whether it restarts the chain. Returns nil if it does not
        /// belong here.
        ///
        /// After invalid lines, it is unknown which tag the next line was bound to: that of one of
        /// them, that of the line before, or none. Its seal is checked in any case.
        private func opened(
            _ line: AuditLine, _ read: Read
        ) throws(VaultError) -> (entry: AuditEntry, restartsChain: Bool)? {
            guard line.sequence > previous.sequence else { return nil }
            let follows = line.sequence == previous.sequence + 1
            var tags: [[UInt8]] = []
            if let tag = doubtful.tag { tags.append(tag) }
            if follows { tags.append(previous.tag) }
            for tag in tags {
                if tag == read.previousTag, let entry = read.entry { return (entry, false) }
                if let entry = try entry(line, after: tag) { return (entry, false) }
            }
            if follows { return nil }
            return try entry(line, after: AuditLog.noTag).map { ($0, true) }
        }

        private func entry(
            _ line: AuditLine, after tag: [UInt8]
        ) throws(VaultError) -> AuditEntry? {
            do {
                return try line.entry(previousTag: tag, vault: vault, keys: keys)
            } catch {
                // Sealed with the right key but not an entry: treated like a broken seal.
                guard error.code == .damaged else { throw error }
                return nil
            }
        }

        /// Compares the end of the file with the position in the index.
        mutating func finish() {
            guard let recorded, !isRecordedSeen else { return }
            let end = previous.sequence + UInt64(doubtful.count)
            if end < recorded.sequence { report.add(.cut(end + 1...recorded.sequence)) }
        }
    }
}

/// The lines of a log from the start, without line feeds.
private struct ForwardLines {
    /// The bytes after the last line feed, once the end is reached.
    private(set) var rest: [UInt8] = []
    /// Whether ``rest`` exceeds the maximum line length and is incomplete.
    private(set) var isTooLong = false

    private let file: AuditLogFile
    private let byteCount: UInt64
    /// Where the next block is read.
    private(set) var offset: UInt64 = 0
    private var block: [UInt8] = []
    private var position = 0

    init(_ file: AuditLogFile, byteCount: UInt64) {
        self.file = file
        self.byteCount = byteCount
    }

    /// Returns the next line, an empty one if it is too long, or nil at the end.
    mutating func next() throws(VaultError) -> ArraySlice<UInt8>? {
        while true {
            if let feed = block[position...].firstIndex(of: 0x0A) {
                let part = block[position..<feed]
                position = feed + 1
                defer { (rest, isTooLong) = ([], false) }
                if isTooLong || rest.count + part.count >= AuditLine.lineLimit { return [] }
                return rest.isEmpty ? part : rest[...] + part
            }
            if rest.count + block.count - position < AuditLine.lineLimit {
                rest += block[position...]
            } else {
                isTooLong = true
            }
            block = try file.read(
                at: offset, upTo: Int(min(byteCount - offset, 64 << 10)))
            (offset, position) = (offset + UInt64(block.count), 0)
            if block.isEmpty { return nil }
        }
    }
}
