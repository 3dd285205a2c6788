internal import Sealing

extension Vault {
    /// What came of restoring a vault.
    package struct Restoration {
        /// The generation that stands now.
        package let generation: UInt64
        /// Where the replaced file is; nil when there was none.
        package let kept: String?
        /// Whether version numbers go on behind those of the replaced vault. False when it did not
        /// open: numbers that it gave out since the backup may then be given out again.
        package let continuesVersions: Bool
        /// What became of what the backup knows of the audit log.
        package let auditLog: AuditLogFate
    }

    /// What a restored vault knows of its audit log.
    package enum AuditLogFate: String, Sendable {
        /// What it knew, or the replaced vault, which may know later lines.
        case kept
        /// Nothing: neither the log nor the vault that it is of was on this machine.
        case reset
    }

    /// Puts this copy in the place of the vault at `path`, as a new generation higher than both.
    ///
    /// The replaced file is copied to `kept` first, whole, whatever state it is in. Slots are those
    /// of the copy.
    ///
    /// - Parameters:
    ///   - keys: Open this copy.
    ///   - currentKeys: May open the vault at `path`; nil where nothing does.
    ///   - acceptsOther: Whether a vault of another id may be replaced.
    ///   - seen: Generations of this vault that were seen here; the new one is higher, and comes after
    ///     them.
    ///   - isNewHere: Whether neither this vault nor its audit log was ever here: then the copy forgets
    ///     what it knows of the log that it left behind on another machine.
    ///   - written: Learns of the new generation before the lock is given back.
    /// - Throws: ``VaultError/Code/damaged`` when this copy is; ``VaultError/Code/exists`` for another
    ///   vault at `path`, or when there is something at `kept`. Nothing has changed then.
    package func restore(
        to path: String, in store: any FileStore, keys: VaultKeys, currentKeys: VaultKeys?,
        keepingAt kept: String, acceptsOther: Bool, seen: [VaultPosition] = [],
        isNewHere: Bool = false, written: (VaultSighting) -> Void = { _ in }
    ) throws -> Restoration {
        try verify(with: keys)
        try store.prepareDirectory(of: path)
        return try store.withLock(path) {
            let replaced = try store.exists(path) ? try store.openCopy(path) : nil
            let current = replaced.flatMap { try? Vault(path: path, file: $0) }
            let related = current.flatMap { $0.header.vaultID == header.vaultID ? $0 : nil }
            guard current == nil || related != nil || acceptsOther else {
                throw VaultError(.exists, "\(path) is another vault than \(self.path)")
            }
            var index = try self.index(with: keys, extent: .everything)
            let continues = try index.goOn(
                from: related, keys: [keys, currentKeys].compactMap { $0 }, own: keys)
            if let replaced { try Self.keep(replaced, at: kept, in: store) }
            let resetsAudit = isNewHere && related == nil && index.metadata.audit != nil
            if resetsAudit { index.metadata.audit = nil }
            let sealed: VaultSighting
            do {
                sealed = try write(
                    &index, to: path, in: store, keys: keys, related: related, seen: seen)
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

    /// Writes this copy to `path` under `index`, as the generation after all that were seen.
    private func write(
        _ index: inout VaultIndex, to path: String, in store: any FileStore, keys: VaultKeys,
        related: Vault?, seen: [VaultPosition]
    ) throws -> VaultSighting {
        index.metadata.remember(generation: header.generation, tag: try indexTag())
        // So that an anchor that saw the replaced generation takes this one for its child.
        let outlived = try seen + [related].compactMap { $0 }.map { try $0.position() }
        index.metadata.remember(outlived)
        var next = try header.successor(after: outlived.map(\.generation).max() ?? 0)
        try index.remakeCheckpoint(under: next, with: keys)
        let sealed = try next.sealing(index, keys: keys, chunksByteCount: header.chunksByteCount)
        let parts = [
            FilePart.bytes(sealed.header), .bytes(sealed.index),
            .copy(of: file, offset: header.chunksOffset, count: header.chunksByteCount),
        ]
        try store.write(parts, to: path, replaces: true) { new in
            try Vault(path: path, file: new).verify(with: keys)
        }
        return next.sighting(sealed.index, checkpointGeneration: index.checkpointGeneration)
    }

    /// Copies the file that is to be replaced, whole.
    private static func keep(
        _ replaced: any ReadableFile, at kept: String, in store: any FileStore
    ) throws {
        do {
            try store.write(
                [.copy(of: replaced, offset: 0, count: replaced.byteCount)], to: kept,
                replaces: false
            ) { copy in
                guard copy.byteCount == replaced.byteCount else {
                    throw VaultError(.inputOutput, "\(kept) was not written whole")
                }
            }
        } catch let error as VaultError where error.code == .notConfirmed {
            // It has its name already. Without it nothing is replaced.
            throw withdraw(
                kept, after: VaultError(.inputOutput, error.reason), in: store)
        }
    }

    /// Takes the kept copy away where nothing was replaced; else, and where it stays, says where it is.
    private static func withdraw(
        _ kept: String, after error: any Error, in store: any FileStore
    ) -> any Error {
        let failure = error as? VaultError
        guard failure?.code != .notConfirmed else {
            let reason = failure?.reason ?? ""
            return VaultError(.notConfirmed, "\(reason). The replaced vault is \(kept)")
        }
        do throws(VaultError) {
            try store.remove(kept)
            return error
        } catch {
            return VaultError(
                failure?.code ?? .inputOutput,
                "\(failure?.reason ?? "nothing was replaced"); a copy of the vault is left over at "
                    + kept)
        }
    }
}

extension VaultIndex {
    /// Lets no version number repeat that the vault to be replaced has given out, and takes along what
    /// opens the lines of the audit log that were written with its keys.
    ///
    /// - Returns: Whether that vault could be read.
    fileprivate mutating func goOn(
        from replaced: Vault?, keys: [VaultKeys], own: VaultKeys
    ) throws(VaultError) -> Bool {
        guard let replaced else { return false }
        for keys in keys {
            guard let old = try? replaced.index(with: keys, extent: .listing) else { continue }
            let highest = Dictionary(
                uniqueKeysWithValues: old.variables.map { ($0.id, $0.highestVersion) })
            for position in variables.indices {
                let known = highest[variables[position].id] ?? 0
                variables[position].highestVersion = max(
                    variables[position].highestVersion, known)
            }
            // The replaced vault may know of later lines of the log.
            if let end = old.metadata.audit { metadata.recordAudit(end) }
            let arena = SecretArena()
            let present = try own.index.logKey(in: arena)
            for key in old.formerLogKeys + [try keys.index.logKey(in: arena)]
            where !(formerLogKeys + [present]).contains(where: { $0.isEqual(to: key) }) {
                formerLogKeys.append(key)
            }
            formerLogKeys.removeFirst(max(formerLogKeys.count - Self.formerLogKeyLimit, 0))
            return true
        }
        return false
    }
}

extension SecretSlice {
    fileprivate func isEqual(to other: SecretSlice) -> Bool {
        withBytes { left in other.withBytes { left.isEqualInConstantTime(to: $0) } }
    }
}
