/// The audit log of one vault: a file of lines, sealed and chained, that grows by one for everything
/// that gives values out. `docs/audit-log.md` describes it to the byte.
///
/// Each line is bound to its vault, its number and the line before. A line whose number does not follow
/// begins the chain anew, which only the holder of the log key can do, and a reader says what is missing.
package struct AuditLog: Sendable {
    /// Where a line stands: its number, and the 16 bytes that the next one is bound to.
    package typealias Position = IndexMetadata.AuditPosition

    /// The file's path.
    package let path: String
    /// The vault that the lines are of.
    package let vaultID: Identifier
    let lockSeconds: Int

    static let noTag = [UInt8](repeating: 0, count: AuditLine.tagByteCount)

    /// Names a log. Touches nothing.
    ///
    /// - Parameter lockSeconds: How long to wait for another writer.
    package init(path: String, vaultID: Identifier, lockSeconds: Int = 10) {
        self.path = path
        self.vaultID = vaultID
        self.lockSeconds = lockSeconds
    }

    /// Adds a sealed line, by one write under the log's lock.
    ///
    /// - Parameters:
    ///   - keys: Open the index.
    ///   - recorded: What the index says of the log. Where the file ends before, lines are missing, and
    ///     the new one begins the chain anew behind them.
    ///   - durably: Whether the line must be on the disk before this returns.
    /// - Returns: Where the line stands.
    /// - Throws: ``VaultError/Code/auditLog``, and the line is not there.
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

    /// Notes that a passphrase was wrong, where there is no key to seal the line with. It holds the time
    /// and the user's number alone; the next sealed line vouches for it.
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
        if !backwards.rest.isEmpty {
            if AuditLine.isBrokenOff(backwards.rest[...]) {
                // Nothing was given out for a line that was not written whole.
                try file.truncate(to: backwards.restOffset)
            } else {
                front = [0x0A]
            }
        }
        var (sequence, tag) = (0 as UInt64, Self.noTag)
        while let text = try backwards.next() {
            guard let last = AuditLine(text) else { continue }
            (sequence, tag) = (last.sequence, last.tag)
            break
        }
        if let recorded, recorded.sequence > sequence {
            // A number that does not follow the file's last one, and no line to be bound to.
            (sequence, tag) = (recorded.sequence, Self.noTag)
        }
        guard sequence < AuditLine.sequenceLimit else { throw full }
        let new = line(sequence + 1, tag)
        try file.append(front.isEmpty ? new.text : front + new.text, durably: durably)
        return Position(sequence: new.sequence, tag: new.tag)
    }

    private var full: VaultError {
        VaultError(.auditLog, "the audit log \(path) has no numbers left; move it away")
    }

    /// Where the log ends, if the line that was recorded is still in it.
    ///
    /// - Returns: nil where there is no line, and where the recorded one is not there any more: then the
    ///   record must stay as it is, or the cut would be forgotten.
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
