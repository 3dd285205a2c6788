extension AuditLog {
    /// One line that holds.
    package struct Record: Equatable, Sendable {
        /// Its number.
        package let sequence: UInt64
        /// False for a wrong passphrase that was noted before any key was there: until a sealed line
        /// follows, nobody vouches for it.
        package let isSealed: Bool
        /// What it says.
        package let entry: AuditEntry
    }

    /// Checks every line of the log and the chain from the first to the last, and holds it against what
    /// the index says of it. Reads the file piece by piece, and
    /// what writers append meanwhile not at all.
    ///
    /// - Parameter index: Opened before this is called, so that the log can only have grown since.
    /// - Returns: What is wrong with it; nothing wrong is thrown.
    /// - Throws: ``VaultError/Code/auditLog`` where the file cannot be read.
    package func verify(with keys: VaultKeys, index: VaultIndex) throws(VaultError) -> AuditReport {
        try read(with: keys, index: index) { _ in }
    }

    /// Reads the log as ``verify(with:index:)`` does, and lends each line that holds to `body`.
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
            file, byteCount: try file.settledByteCount(lockSeconds: lockSeconds))
        while let line = try lines.next() {
            if let record = try chain.take(line) { body(record) }
        }
        if !lines.rest.isEmpty {
            if !lines.isTooLong && AuditLine.isBrokenOff(lines.rest[...]) {
                chain.report.incompleteByteCount = lines.rest.count
            } else {
                _ = try chain.take([])
            }
        }
        chain.finish()
        return chain.report
    }

    /// Goes along the chain.
    private struct Chain {
        let vault: Identifier
        let keys: AuditKeys
        let recorded: Position?
        var report = AuditReport()
        /// The last line that holds.
        private var previous = Position(sequence: 0, tag: AuditLog.noTag)
        /// Lines since then that do not, and what the last of them ends with.
        private var doubtful: (count: Int, tag: [UInt8]?) = (0, nil)
        private var lineNumber = 0
        private var isRecordedSeen = false

        init(vault: Identifier, keys: AuditKeys, recorded: Position?) {
            self.vault = vault
            self.keys = keys
            self.recorded = recorded
        }

        /// Takes the next line of the file; nil when it does not hold.
        mutating func take(_ text: ArraySlice<UInt8>) throws(VaultError) -> Record? {
            lineNumber += 1
            let line = AuditLine(text)
            guard let line, let (entry, beginsAnew) = try opened(line) else {
                report.add(.damaged(line: lineNumber))
                doubtful = (doubtful.count + 1, line?.tag ?? doubtful.tag)
                return nil
            }
            if beginsAnew { report.add(.missing(previous.sequence + 1...line.sequence - 1)) }
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

        /// What a line says, and whether it begins the chain anew; nil where it does not belong here.
        ///
        /// Behind lines that do not hold, nobody can tell what the next one was bound to: to one of
        /// them, to the one before, or to none. It still opens only as it was sealed.
        private func opened(
            _ line: AuditLine
        ) throws(VaultError) -> (entry: AuditEntry, beginsAnew: Bool)? {
            guard line.sequence > previous.sequence else { return nil }
            let follows = line.sequence == previous.sequence + 1
            var tags: [[UInt8]] = []
            if let tag = doubtful.tag { tags.append(tag) }
            if follows { tags.append(previous.tag) }
            for tag in tags {
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
                // Sealed with the key, and still not an entry: as wrong as a broken seal.
                guard error.code == .damaged else { throw error }
                return nil
            }
        }

        /// Holds the end of the file against what the vault knows.
        mutating func finish() {
            guard let recorded, !isRecordedSeen else { return }
            let end = previous.sequence + UInt64(doubtful.count)
            if end < recorded.sequence { report.add(.cut(end + 1...recorded.sequence)) }
        }
    }
}

/// The lines of a log from its beginning, without their line feeds.
private struct ForwardLines {
    /// What stands behind the last line feed, at the end.
    private(set) var rest: [UInt8] = []
    /// Whether that is longer than lines are, and was not kept whole.
    private(set) var isTooLong = false

    private let file: AuditLogFile
    private let byteCount: UInt64
    private var offset: UInt64 = 0
    private var block: [UInt8] = []
    private var position = 0

    init(_ file: AuditLogFile, byteCount: UInt64) {
        self.file = file
        self.byteCount = byteCount
    }

    /// The next line; empty for one that is longer than lines are, nil at the end.
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
