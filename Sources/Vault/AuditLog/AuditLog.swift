/// A vault's audit log: a file of sealed, chained lines, one for every action that discloses
/// values. `docs/file-formats.md` specifies the format.
///
/// Each line is bound to its vault, its number and the previous line. A line whose number does not
/// follow restarts the chain, which requires the log key; readers report the gap.
package struct AuditLog: Sendable {
    /// The position of a line: its number, and the 16 bytes that the next line is bound to.
    package typealias Position = IndexMetadata.AuditPosition

    package let path: String
    package let vaultID: Identifier
    let lockSeconds: Int

    static let noTag = [UInt8](repeating: 0, count: AuditLine.tagByteCount)

    /// Creates a log without opening its file.
    ///
    /// - Parameter lockSeconds: How long to wait for another writer.
    package init(path: String, vaultID: Identifier, lockSeconds: Int = 10) {
        self.path = path
        self.vaultID = vaultID
        self.lockSeconds = lockSeconds
    }

    /// Appends a sealed line with a single write, holding the log's lock.
    ///
    /// - Parameters:
    ///   - keys: The keys of the index.
    ///   - recorded: The log's end according to the index. If the file ends earlier, lines are
    ///     missing, and the new line restarts the chain after them.
    ///   - durably: Whether to sync the line to disk before returning.
    /// - Returns: The position of the line.
    /// - Throws: ``VaultError/Code/auditLog``, in which case the line was not written.
    @discardableResult
    package func append(
        _ entry: AuditEntry, keys: VaultKeys, recorded: Position?, durably: Bool = false
    ) throws(VaultError) -> Position {
        let key = try keys.index.derivedKey(for: .auditLog)
        return try append(recorded: recorded, durably: durably) { sequence, previousTag in
            AuditLine.sealing(
                entry, sequence: sequence, previousTag: previousTag, vault: vaultID, key: key)
        }
    }

    /// Records a wrong passphrase, when there is no key to seal a line with. Contains only the time
    /// and the user id; the next sealed line authenticates it.
    ///
    /// - Throws: ``VaultError/Code/auditLog``.
    package func appendWrongPassphrase(time: UInt64, userID: UInt32) throws(VaultError) {
        try append(recorded: nil, durably: false) { sequence, previousTag in
            AuditLine.wrongPassphrase(
                time: time, userID: userID, sequence: sequence, previousTag: previousTag,
                vault: vaultID)
        }
    }

    @discardableResult
    private func append(
        recorded: Position?, durably: Bool, _ line: (UInt64, [UInt8]) -> AuditLine
    ) throws(VaultError) -> Position {
        let file = try AuditLogFile.locked(path, lockSeconds: lockSeconds)
        var backwards = try BackwardLines(file)
        var front: [UInt8] = []
        var cut: UInt64?
        if !backwards.rest.isEmpty {
            if AuditLine.isInterruptedWrite(backwards.rest[...]) {
                // An incomplete line means that no value was disclosed for it.
                cut = backwards.restOffset
            } else {
                front = [0x0A]
            }
        }
        var (sequence, tag) = (0 as UInt64, Self.noTag)
        var isForeign = !front.isEmpty
        while let text = try backwards.next() {
            guard let last = AuditLine(text) else {
                if !text.isEmpty { isForeign = true }
                continue
            }
            (sequence, tag, isForeign) = (last.sequence, last.tag, false)
            break
        }
        guard !isForeign else {
            throw VaultError(
                .auditLog,
                "\(path) is not an audit log and was not changed; choose another file with --audit-log, or rename this one"
            )
        }
        if let cut { try file.truncate(to: cut) }
        if let recorded, recorded.sequence > sequence {
            // A gap in the numbers, and no line to be bound to.
            (sequence, tag) = (recorded.sequence, Self.noTag)
        }
        guard sequence < AuditLine.sequenceLimit else {
            throw VaultError(
                .auditLog,
                "the audit log \(path) has no sequence numbers left; rename it to start a new one")
        }
        let new = line(sequence + 1, tag)
        try file.append(front.isEmpty ? new.text : front + new.text, durably: durably)
        return Position(sequence: new.sequence, tag: new.tag)
    }

    /// Returns the end of the log if the recorded line is still in it.
    ///
    /// - Returns: nil if there is no line, and if the recorded one is missing: the record must then
    ///   be kept, or the truncation would go unnoticed.
    /// - Throws: ``VaultError/Code/auditLog``.
    package func position(following recorded: Position?) throws(VaultError) -> Position? {
        guard let file = try AuditLogFile.reading(path) else { return nil }
        var backwards = try BackwardLines(file)
        var end: Position?
        while let text = try backwards.next() {
            guard let line = AuditLine(text) else { continue }
            if end == nil { end = Position(sequence: line.sequence, tag: line.tag) }
            guard let recorded else { return end }
            if line.sequence == recorded.sequence { return line.tag == recorded.tag ? end : nil }
            if line.sequence < recorded.sequence { return nil }
        }
        return recorded == nil ? end : nil
    }
}
