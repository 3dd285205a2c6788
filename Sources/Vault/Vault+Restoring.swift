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
    /// - Throws: ``VaultError/Code/damaged`` when this copy is; ``VaultError/Code/exists`` for another
    ///   vault at `path`, or when there is something at `kept`. Nothing has changed then.
    package func restore(
        to path: String, in store: any FileStore, keys: VaultKeys, currentKeys: VaultKeys?,
        keepingAt kept: String, acceptsOther: Bool
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
            let continues = index.continueVersions(
                of: related, keys: [keys, currentKeys].compactMap { $0 })
            if let replaced {
                try store.write(
                    [.copy(of: replaced, offset: 0, count: replaced.byteCount)], to: kept,
                    replaces: false
                ) { copy in
                    guard copy.byteCount == replaced.byteCount else {
                        throw VaultError(.inputOutput, "\(kept) was not written whole")
                    }
                }
            }
            index.metadata.remember(generation: header.generation, tag: try indexTag())
            if let related, related.header.generation > header.generation {
                // So that an anchor that saw the replaced generation takes this one for its child.
                index.metadata.remember(
                    generation: related.header.generation, tag: try related.indexTag())
            }
            var next = try header.successor(after: related?.header.generation ?? 0)
            let sealed = try next.sealing(
                index, keys: keys, chunksByteCount: header.chunksByteCount)
            let parts = [
                FilePart.bytes(sealed.header), .bytes(sealed.index),
                .copy(of: file, offset: header.chunksOffset, count: header.chunksByteCount),
            ]
            try store.write(parts, to: path, replaces: true) { written in
                try Vault(path: path, file: written).verify(with: keys)
            }
            return Restoration(
                generation: next.generation, kept: replaced == nil ? nil : kept,
                continuesVersions: replaced == nil || continues)
        }
    }
}

extension VaultIndex {
    /// Lets no version number repeat that the vault to be replaced has given out.
    ///
    /// - Returns: Whether that vault could be read.
    fileprivate mutating func continueVersions(of replaced: Vault?, keys: [VaultKeys]) -> Bool {
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
            return true
        }
        return false
    }
}
