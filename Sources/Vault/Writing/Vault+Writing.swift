internal import Sealing

extension Vault {
    /// Changes the vault at `path`: locks it, opens the newest generation, lets `body` change it,
    /// and replaces the file. Nothing is written when `body` throws or changes nothing.
    ///
    /// - Parameters:
    ///   - keys: From an earlier opening; prompts and derivation come before, never under the lock.
    ///   - vaultID: The vault that the keys are of.
    ///   - seen: Where the vault stood when it was opened; an older copy that was put there since is
    ///     not built upon.
    ///   - earlier: The vault as it was opened before; saves time where nobody wrote since.
    ///   - pinned: What was seen of the file on this machine: a locked write seals to no other key, and
    ///     nothing is written over an older checkpoint.
    ///   - author: What a locked write says of itself.
    ///   - written: Learns of the new generation, and which records it changed, before the lock is
    ///     given back. Not called where nothing was written.
    ///   - body: Runs once, under the lock; it must not wait for people, programs or the network.
    /// - Returns: What `body` returned, and the generation that stands now.
    /// - Throws: What `body` throws; ``VaultError/Code/epochChanged`` when the index key was
    ///   replaced since the keys were had; ``VaultError/Code/damaged`` also for an older copy.
    @discardableResult
    package static func update<R>(
        _ path: String, in store: any FileStore, keys: VaultKeys, vaultID: Identifier,
        since seen: VaultPosition? = nil, after earlier: Vault? = nil,
        pinned: VaultSighting? = nil, by author: LockedWrite.Author = .init(command: "", time: 0),
        written: (VaultSighting, Set<Identifier>) -> Void = { _, _ in },
        _ body: (inout VaultTransaction) throws -> R
    ) throws -> (result: R, generation: UInt64) {
        try store.withLock(path) {
            let vault = try Vault(opening: path, in: store)
            guard vault.header.vaultID == vaultID else {
                throw VaultError(.epochChanged, "another vault was put at \(path) meanwhile")
            }
            // With the root the code of the checkpoint covers it.
            if !keys.opensValues { try vault.checkPublicKey(with: keys) }
            let (opened, index) = try vault.openedForWriting(with: keys, after: earlier)
            try vault.checkCheckpoint(of: index, with: keys)
            try index.checkRotations(with: keys)
            if let seen { try vault.expect(toFollow: seen, index.metadata) }
            if let pinned { try vault.expect(pinned, index, with: keys) }
            var transaction = try VaultTransaction(index: index, vault: vault, keys: keys)
            let result = try body(&transaction)
            guard try transaction.isChanged(from: opened) else {
                return (result, vault.header.generation)
            }
            let edits = transaction.recordEdits()
            let changed = Set(edits.map(\.variable))
            let covered = Set(edits.lazy.filter(\.isCovered).map(\.variable))
            let sighting = try vault.write(
                &transaction, keys: keys, in: store, by: author, changing: covered)
            written(sighting, changed)
            return (result, sighting.position.generation)
        }
    }

    /// Writes the next generation.
    private func write(
        _ transaction: inout VaultTransaction, keys: VaultKeys, in store: any FileStore,
        by author: LockedWrite.Author, changing records: Set<Identifier>
    ) throws(VaultError) -> VaultSighting {
        if keys.opensValues { try transaction.keepCheckpoint() }
        transaction.dropUnusedBatches()
        let chunks = transaction.index.packedChunks(old: header.chunksByteCount)
        transaction.index.metadata.remember(
            generation: header.generation, tag: try indexTag())
        transaction.index.metadata.remember(transaction.outlived)
        transaction.recordAuditPosition()
        try transaction.index.expectReadableJournal()
        var next = try header.successor(
            after: transaction.outlived.map(\.generation).max() ?? 0)
        next.slots = transaction.slots
        if keys.opensValues {
            transaction.index.forgetAcceptedWrites()
            try transaction.index.remakeCheckpoint(under: next, with: keys)
        } else {
            transaction.index.metadata.note(
                LockedWrite(generation: next.generation, by: author, variables: records))
        }
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
        return next.sighting(
            sealed.index, checkpointGeneration: transaction.index.checkpointGeneration)
    }
}

extension VaultTransaction {
    /// Tells whether the index would be written differently from how it was opened.
    fileprivate borrowing func isChanged(from opened: SecretSlice) throws(VaultError) -> Bool {
        if slots != header.slots || !outlived.isEmpty { return true }
        // A value that lies behind the chunks there were: nothing needs to be encoded to see that.
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
    /// The header of the generation after `generation`, or after this one where that is higher.
    func successor(after generation: UInt64 = 0) throws(VaultError) -> VaultHeader {
        var next = self
        let (number, overflow) = max(self.generation, generation).addingReportingOverflow(1)
        guard !overflow else { throw VaultError(.tooLarge, "the vault was written too often") }
        next.generation = number
        return next
    }

    /// What is seen of the vault with this header and that sealed index.
    func sighting(_ sealedIndex: [UInt8], checkpointGeneration: UInt64) -> VaultSighting {
        VaultSighting(
            position: VaultPosition(
                generation: generation, indexTag: Array(sealedIndex.suffix(16))),
            publicKey: publicKey, checkpointGeneration: checkpointGeneration)
    }

    /// Seals an index under this header, whose lengths and nonce it sets.
    mutating func sealing(
        _ index: VaultIndex, keys: VaultKeys, chunksByteCount: UInt64
    ) throws(VaultError) -> (header: [UInt8], index: [UInt8]) {
        let encoded = try index.encoded()
        indexNonce = AuthenticatedCipher.randomNonce()
        indexByteCount = UInt64(encoded.count + AuthenticatedCipher.tagByteCount)
        fileByteCount = UInt64(byteCount) + indexByteCount + chunksByteCount
        guard fileByteCount <= VaultFormat.fileLimit else {
            throw VaultError(.tooLarge, "the vault would be larger than 4 GiB")
        }
        let header = self.encoded()
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
    /// Takes generations that were seen for ancestors, where they are later than those known.
    mutating func remember(_ seen: [VaultPosition]) {
        for seen in seen.sorted(by: { $0.generation < $1.generation })
        where seen.generation > generationTags.last?.generation ?? 0 {
            remember(generation: seen.generation, tag: seen.indexTag)
        }
    }

    /// Keeps the tag of a generation that is about to be replaced, of the last 1,024. One that is not
    /// lower was put in by somebody with the index key.
    mutating func remember(generation: UInt64, tag: [UInt8]) {
        generationTags.removeAll { $0.generation >= generation }
        generationTags.append(GenerationTag(generation: generation, tag: tag))
        if generationTags.count > VaultFormat.generationTagLimit {
            generationTags.removeFirst(generationTags.count - VaultFormat.generationTagLimit)
        }
    }
}

extension VaultIndex {
    /// Forgets which locked write changed records that are accepted as they are, or gone for good.
    fileprivate mutating func forgetAcceptedWrites() {
        let noted = Set(metadata.lockedWrites.flatMap(\.variables))
        if noted.isEmpty { return }
        let open = objectsNotAccepted(for: .sendingTo(projects: [], records: noted))
        metadata.forgetLockedWrites { !open.contains(.variable($0)) }
    }

    /// Sees that no entry of the journal is written that a reader refuses, such as one with a text that
    /// is too long: the vault could not be written any more.
    fileprivate func expectReadableJournal() throws(VaultError) {
        do throws(VaultError) {
            for entry in journal { try entry.checkPayload() }
            _ = try relays()
        } catch {
            throw VaultError(
                .tooLarge, "an entry of the journal cannot be kept: \(error.reason)")
        }
    }

    /// Which stretches of the old chunks and of the new ones go into the next file, in this order.
    struct PackedChunks {
        var old: [Range<UInt64>] = []
        var new: [Range<UInt64>] = []
        var byteCount: UInt64 = 0
    }

    /// Closes the gaps that dropped versions leave, and gives every version its new offset.
    ///
    /// - Parameter old: Bytes of the old chunks; versions beyond are new.
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
    /// Adds a range behind the last one, joined to it where they touch.
    fileprivate mutating func extend(by range: Range<UInt64>) {
        if let last, last.upperBound == range.lowerBound {
            self[count - 1] = last.lowerBound..<range.upperBound
        } else {
            append(range)
        }
    }
}
