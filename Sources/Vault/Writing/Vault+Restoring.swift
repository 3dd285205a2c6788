internal import Sealing

extension Vault {
    /// The result of restoring a vault.
    package struct Restoration {
        /// The new generation.
        package let generation: UInt64
        /// The path of the saved copy of the replaced file; nil if there was no file.
        package let kept: String?
        /// Whether version numbers continue after those of the replaced vault. False if it could
        /// not be opened: numbers that it assigned since the backup may then be assigned again.
        package let continuesVersions: Bool
        package let auditLog: AuditLogOutcome
    }

    /// What a restored vault knows about its audit log.
    package enum AuditLogOutcome: String, CaseIterable, Sendable {
        /// The record of the backup or of the replaced vault, whichever is later.
        case kept
        /// Nothing, because neither the log nor its vault was on this machine.
        case reset
    }

    /// Replaces the vault at `path` with this copy, as a new generation higher than both.
    ///
    /// First copies the replaced file to `kept`, whatever state it is in. The slots are those of
    /// this copy.
    ///
    /// - Parameters:
    ///   - keys: The keys of this copy, with the root.
    ///   - currentKeys: Keys that may open the vault at `path`, or nil.
    ///   - acceptsOther: Whether a vault with another id may be replaced.
    ///   - seen: Generations of this vault that were seen on this machine. The new one is higher,
    ///     and descends from them.
    ///   - isNewHere: Whether neither this vault nor its audit log was ever on this machine. The
    ///     copy then drops its record of the log, which is on another machine.
    ///   - written: Called with the new generation before the lock is released.
    /// - Throws: ``VaultError/Code/damaged`` if this copy is damaged; ``VaultError/Code/exists`` if
    ///   another vault is at `path`, or if `kept` exists. Nothing has changed then.
    package func restore(
        to path: String, in store: any FileStore, keys: VaultKeys, currentKeys: VaultKeys?,
        keepingAt kept: String, acceptsOther: Bool, seen: [VaultPosition] = [],
        isNewHere: Bool = false, written: (VaultObservation) -> Void = { _ in }
    ) throws -> Restoration {
        try verify(with: keys)
        try store.prepareDirectory(of: path)
        return try store.withLock(path) {
            let replaced = try store.exists(path) ? try store.openCopy(path) : nil
            let current = replaced.flatMap { try? Vault(path: path, file: $0) }
            let related = current.flatMap { $0.header.vaultID == header.vaultID ? $0 : nil }
            guard current == nil || related != nil || acceptsOther else {
                throw VaultError(.exists, "\(path) and \(self.path) are different vaults")
            }
            var index = try self.index(with: keys, extent: .everything)
            let continues = try index.carryOver(
                from: related, keys: [keys, currentKeys].compactMap { $0 }, own: keys,
                publicKey: header.publicKey)
            if let replaced { try Self.keep(replaced, at: kept, in: store) }
            let resetsAudit = isNewHere && related == nil && index.metadata.audit != nil
            if resetsAudit { index.metadata.audit = nil }
            let sealed: VaultObservation
            do {
                sealed = try write(
                    &index, to: path, in: store, keys: keys,
                    // A header that does not open may hold any generation.
                    related: continues ? related : nil, seen: seen)
            } catch {
                throw replaced == nil ? error : Self.withdraw(kept, after: error, in: store)
            }
            written(sealed)
            return Restoration(
                generation: sealed.position.generation, kept: replaced == nil ? nil : kept,
                continuesVersions: replaced == nil || continues,
                auditLog: resetsAudit ? .reset : .kept)
        }
    }

    /// Writes this copy to `path` with `index`, as the successor of all generations seen.
    private func write(
        _ index: inout VaultIndex, to path: String, in store: any FileStore, keys: VaultKeys,
        related: Vault?, seen: [VaultPosition]
    ) throws -> VaultObservation {
        index.metadata.remember(generation: header.generation, tag: try tableTag())
        // So that a rollback guard that saw the replaced generation accepts this one as its
        // descendant.
        let superseded = try seen + [related].compactMap { $0 }.map { try $0.position() }
        index.metadata.remember(superseded)
        var next = try header.successor(after: superseded.map(\.generation).max() ?? 0)
        let blocks = try NextBlocks(of: index, from: self, vault: header.vaultID, keys: keys)
        let sealed = try next.sealing(index, blocks, keys: keys)
        let parts = [FilePart.bytes(sealed.header), .bytes(sealed.table)]
        try store.write(
            parts + blocks.parts(from: self, newChunks: []), to: path, replaces: true
        ) { new in
            try Vault(path: path, file: new).verify(with: keys)
        }
        return next.sighting(sealed.table)
    }

    /// Saves a copy of the file to be replaced.
    private static func keep(
        _ replaced: any ReadableFile, at kept: String, in store: any FileStore
    ) throws {
        do {
            try store.write(
                [.copy(of: replaced, offset: 0, count: replaced.byteCount)], to: kept,
                replaces: false
            ) { copy in
                guard copy.byteCount == replaced.byteCount else {
                    throw VaultError(.inputOutput, "\(kept) was not written completely")
                }
            }
        } catch let error as VaultError where error.code == .notConfirmed {
            // The copy is in place but may not be durable. Without a durable copy, nothing is
            // replaced.
            throw withdraw(
                kept, after: VaultError(.inputOutput, error.reason), in: store)
        }
    }

    /// Removes the saved copy if nothing was replaced. Otherwise, or on failure, the error says
    /// where it is.
    private static func withdraw(
        _ kept: String, after error: any Error, in store: any FileStore
    ) -> any Error {
        let failure = error as? VaultError
        guard failure?.code != .notConfirmed else {
            let reason = failure?.reason ?? ""
            return VaultError(.notConfirmed, "\(reason). The replaced vault was saved as \(kept)")
        }
        do throws(VaultError) {
            try store.remove(kept)
            return error
        } catch {
            return VaultError(
                failure?.code ?? .inputOutput,
                "\(failure?.reason ?? "the vault was not replaced"); a copy of the vault remains at "
                    + kept)
        }
    }
}

extension VaultIndex {
    /// Ensures that version numbers assigned by the replaced vault are not reused, and adds its
    /// keys for older lines of the audit log.
    ///
    /// - Returns: Whether that vault could be read.
    fileprivate mutating func carryOver(
        from replaced: Vault?, keys: [VaultKeys], own: VaultKeys, publicKey: [UInt8]
    ) throws(VaultError) -> Bool {
        guard let replaced else { return false }
        for keys in keys {
            // Without the root, only the same public key says who wrote it.
            guard keys.opensValues || replaced.header.publicKey == publicKey,
                let old = try? replaced.index(with: keys, extent: .listing)
            else { continue }
            let highest = Dictionary(
                old.variables.map { ($0.id, $0.highestVersion) }, uniquingKeysWith: max)
            for position in variables.indices {
                let (project, name) = (variables[position].project, variables[position].name)
                let known = max(
                    highest[variables[position].id] ?? 0,
                    old.highestVersion(of: project, named: name))
                variables[position].highestVersion = max(
                    variables[position].highestVersion, known)
            }
            // The replaced vault may know about later lines of the log.
            if let end = old.metadata.audit { metadata.recordAudit(end) }
            let arena = SecretArena()
            let present = try own.index.logKey(in: arena)
            for key in old.formerLogKeys + [try keys.index.logKey(in: arena)]
            where !(formerLogKeys + [present]).contains(where: { $0.equals(key) }) {
                formerLogKeys.append(key)
            }
            formerLogKeys.removeFirst(max(formerLogKeys.count - Self.formerLogKeyLimit, 0))
            return true
        }
        return false
    }
}
