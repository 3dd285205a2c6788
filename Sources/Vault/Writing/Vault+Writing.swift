internal import Sealing

extension Vault {
    /// Updates the vault at `path`: takes the lock, opens the newest generation, calls `body`, and
    /// replaces the file. Writes nothing if `body` throws or changes nothing.
    ///
    /// - Parameters:
    ///   - keys: With the root, from an earlier unlocking, because prompts and key derivation must
    ///     not happen under the lock.
    ///   - vaultID: The vault that the keys belong to.
    ///   - seen: The vault's position when it was opened; an older copy put in its place is
    ///     rejected.
    ///   - earlier: The vault as opened before; saves time if nothing was written since.
    ///   - written: Called with the new generation before the lock is released. Not called if
    ///     nothing was written.
    ///   - recorder: Called after `body`: notes what groups must learn.
    ///   - body: Runs once, under the lock; must not wait for people, programs or the network.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws; ``VaultError/Code/wrongPassphrase`` for keys without the root;
    ///   ``VaultError/Code/epochChanged`` if the index key was replaced since;
    ///   ``VaultError/Code/damaged``, also for an older copy.
    @discardableResult
    package static func update<R>(
        _ path: String, in store: any FileStore, keys: VaultKeys, vaultID: Identifier,
        since seen: VaultPosition? = nil, after earlier: Vault? = nil,
        written: (VaultObservation) -> Void = { _ in },
        recorder: (inout VaultTransaction) throws -> Void = { _ in },
        _ body: (inout VaultTransaction) throws -> R
    ) throws -> R {
        guard keys.opensValues else {
            throw VaultError(.wrongPassphrase, "changing the vault requires unlocked values")
        }
        return try store.withLock(path) {
            let vault = try Vault(changing: path, in: store)
            guard vault.header.vaultID == vaultID else {
                throw VaultError(
                    .epochChanged,
                    "\(path) was replaced with another vault while the command was running")
            }
            let (opened, index) = try vault.openedForWriting(with: keys, after: earlier)
            if let seen { try vault.expect(toFollow: seen, index.metadata) }
            var transaction = try VaultTransaction(index: index, vault: vault, keys: keys)
            let result = try body(&transaction)
            try transaction.index.expectWithinLimits()
            // Also after a body that changed nothing: a decision can be news for a group.
            try recorder(&transaction)
            guard try transaction.isChanged(from: opened) else { return result }
            written(try vault.write(&transaction, keys: keys, in: store))
            return result
        }
    }

    private func write(
        _ transaction: inout VaultTransaction, keys: VaultKeys, in store: any FileStore
    ) throws(VaultError) -> VaultObservation {
        transaction.dropUnusedBatches()
        let chunks = transaction.index.packedChunks(old: header.chunksByteCount)
        transaction.index.metadata.remember(
            generation: header.generation, tag: try indexTag())
        transaction.index.metadata.remember(transaction.superseded)
        if let end = transaction.auditPosition { transaction.index.metadata.recordAudit(end) }
        try transaction.index.expectReadableJournal()
        var next = try header.successor(
            after: transaction.superseded.map(\.generation).max() ?? 0)
        next.slots = transaction.slots
        let newChunks = transaction.newChunks
        let sealed = try next.sealing(
            transaction.index, keys: keys, chunksByteCount: chunks.byteCount)
        var parts = [FilePart.bytes(sealed.header), .bytes(sealed.index)]
        for range in chunks.old {
            parts.append(
                .copy(
                    of: file, offset: header.chunksOffset + range.lowerBound,
                    count: range.upperBound - range.lowerBound))
        }
        for range in chunks.new {
            parts.append(.bytes(Array(newChunks[Int(range.lowerBound)..<Int(range.upperBound)])))
        }
        try store.replace(path, with: parts)
        return next.sighting(sealed.index)
    }
}

extension VaultTransaction {
    /// Returns whether the index would be written differently from how it was read.
    fileprivate borrowing func isChanged(from opened: SecretSlice) throws(VaultError) -> Bool {
        if slots != header.slots || !superseded.isEmpty { return true }
        // A value stored after the existing chunks is a change; no need to encode the index.
        let isStored = storedVariables.contains {
            index.currentVersions[$0].map { $0.offset >= header.chunksByteCount } ?? false
        }
        if isStored { return true }
        let encoded = try index.encoded()
        return encoded.withBytes { new in
            opened.withBytes { old in !old.isEqualInConstantTime(to: new) }
        }
    }
}

extension VaultHeader {
    /// Returns the header of the generation after `generation` or this one, whichever is higher.
    func successor(after generation: UInt64 = 0) throws(VaultError) -> VaultHeader {
        var next = self
        let (number, overflow) = max(self.generation, generation).addingReportingOverflow(1)
        guard !overflow else {
            throw VaultError(.tooLarge, "the vault has been written too many times")
        }
        next.generation = number
        return next
    }

    /// Returns the sighting of a vault with this header and sealed index.
    func sighting(_ sealedIndex: [UInt8]) -> VaultObservation {
        VaultObservation(
            position: VaultPosition(
                generation: generation, indexTag: Array(sealedIndex.suffix(16))),
            publicKey: publicKey)
    }

    /// Seals an index and its proof under this header, setting its lengths and nonce.
    ///
    /// - Parameter isChecked: Whether it must be possible to read it again.
    mutating func sealing(
        _ index: VaultIndex, keys: VaultKeys, chunksByteCount: UInt64, isChecked: Bool = true
    ) throws(VaultError) -> (header: [UInt8], index: [UInt8]) {
        var encoded = try index.encoded()
        if isChecked {
            let copy = try encoded.withBytes { (bytes) throws(VaultError) in
                try guarding { () throws(SealingError) in try SecretArena().copy(bytes) }
            }
            do throws(VaultError) {
                _ = try VaultIndex.decode(
                    copy, extent: .everything, chunksByteCount: chunksByteCount)
            } catch {
                throw VaultError(.tooLarge, "the vault could not be read again: \(error.reason)")
            }
        }
        indexNonce = AuthenticatedCipher.randomNonce()
        indexByteCount = UInt64(
            encoded.count + IndexProof.byteCount + AuthenticatedCipher.tagByteCount)
        fileByteCount = UInt64(byteCount) + indexByteCount + chunksByteCount
        guard fileByteCount <= VaultFormat.fileLimit else {
            throw VaultError(.tooLarge, "the vault would be larger than 4 GiB")
        }
        let header = self.encoded()
        let proof = encoded.withBytes { IndexProof(of: header, $0) }
        guard let made = try keys.root?.proof(proof) else {
            throw VaultError(.wrongPassphrase, "changing the vault requires unlocked values")
        }
        try guarding { () throws(SealingError) in try encoded.append(made) }
        let key = try keys.index.sealingKey()
        var sealed: [UInt8] = []
        encoded.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: indexNonce,
                additionalData: VaultHeader.indexAssociatedData(header: header), key: key,
                appendingTo: &sealed)
        }
        return (header, sealed)
    }
}

extension IndexMetadata {
    /// Records generations that were seen as ancestors, if they are later than the known ones.
    mutating func remember(_ seen: [VaultPosition]) {
        for seen in seen.sorted(by: { $0.generation < $1.generation })
        where seen.generation > generationTags.last?.generation ?? 0 {
            remember(generation: seen.generation, tag: seen.indexTag)
        }
    }

    /// Records the tag of a generation about to be replaced, keeping the last 1,024.
    mutating func remember(generation: UInt64, tag: [UInt8]) {
        generationTags.append(GenerationTag(generation: generation, tag: tag))
        if generationTags.count > VaultFormat.generationTagLimit {
            generationTags.removeFirst(generationTags.count - VaultFormat.generationTagLimit)
        }
    }
}

extension VaultIndex {
    /// Checks that names and scopes can be read back.
    fileprivate func expectWithinLimits() throws(VaultError) {
        for project in projects where project.name.utf8.count > VaultFormat.nameLimit {
            throw VaultError(.tooLarge, "the name of a project is longer than 1 KiB")
        }
        for variable in variables
        where !variable.attributes.fitsIndex(id: "-", key: variable.name) {
            throw VaultError(
                .tooLarge,
                "the name, comment, branch or custom environments of a variable are too long to be stored"
            )
        }
    }

    /// Checks that all journal entries can be read back. With an unreadable one, such as one with a
    /// text that is too long, the vault could never be written again.
    fileprivate func expectReadableJournal() throws(VaultError) {
        do throws(VaultError) {
            for entry in journal { try entry.checkPayload() }
            _ = try relays()
        } catch {
            throw VaultError(
                .tooLarge, "a journal entry cannot be stored: \(error.reason)")
        }
    }

    /// The ranges of the old and the new chunks that make up the next file, in this order.
    struct PackedChunks {
        var old: [Range<UInt64>] = []
        var new: [Range<UInt64>] = []
        var byteCount: UInt64 = 0
    }

    /// Closes the gaps left by dropped versions, and updates all offsets.
    ///
    /// - Parameter old: The size of the old chunks; versions beyond are new.
    mutating func packedChunks(old: UInt64) -> PackedChunks {
        var packed = PackedChunks()
        var moved: [UInt64: UInt64] = [:]
        for chunk in chunkExtents() {
            let end = chunk.offset + UInt64(chunk.length)
            if chunk.offset < old {
                packed.old.extend(by: chunk.offset..<end)
            } else {
                packed.new.extend(by: (chunk.offset - old)..<(end - old))
            }
            if chunk.offset != packed.byteCount { moved[chunk.offset] = packed.byteCount }
            packed.byteCount += UInt64(chunk.length)
        }
        guard !moved.isEmpty else { return packed }
        for place in currentVersions.values.indices {
            guard let offset = moved[currentVersions.values[place].offset] else { continue }
            currentVersions.values[place].offset = offset
        }
        for position in earlierVersions.indices {
            guard let offset = moved[earlierVersions[position].offset] else { continue }
            earlierVersions[position].offset = offset
        }
        return packed
    }
}

extension [Range<UInt64>] {
    /// Adds a range, merging it with the last one if they are adjacent.
    fileprivate mutating func extend(by range: Range<UInt64>) {
        if let last, last.upperBound == range.lowerBound {
            self[count - 1] = last.lowerBound..<range.upperBound
        } else {
            append(range)
        }
    }
}
