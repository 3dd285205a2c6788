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
    ///   - projects: Chooses, from the table alone, whose sections to open; nil for all. Nothing of
    ///     others may be changed.
    ///   - written: Called with the new generation before the lock is released. Not called if
    ///     nothing was written.
    ///   - body: Runs once, under the lock; must not wait for people, programs or the network.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws; ``VaultError/Code/wrongPassphrase`` for keys without the root;
    ///   ``VaultError/Code/epochChanged`` if the index key was replaced since;
    ///   ``VaultError/Code/damaged``, also for an older copy.
    @discardableResult
    package static func update<R>(
        _ path: String, in store: any FileStore, keys: VaultKeys, vaultID: Identifier,
        since seen: VaultPosition? = nil, after earlier: Vault? = nil,
        of projects: ((VaultIndex) throws -> Set<Identifier>)? = nil,
        written: (VaultObservation) -> Void = { _ in },
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
            try vault.reuse(earlier, with: keys)
            var index = try vault.index(with: keys, extent: .everything, of: [])
            try vault.open(try projects?(index), in: &index, with: keys)
            if let seen { try vault.expect(toFollow: seen, index.metadata) }
            var transaction = try VaultTransaction(index: index, vault: vault, keys: keys)
            let result = try body(&transaction)
            try transaction.index.expectWithinLimits()
            try transaction.index.expectReadableJournal()
            let blocks = try NextBlocks(
                of: transaction.index, from: vault, vault: vaultID, keys: keys)
            guard try transaction.isChanged(from: vault, blocks) else { return result }
            written(try vault.write(&transaction, blocks, keys: keys, in: store))
            return result
        }
    }

    private func write(
        _ transaction: inout VaultTransaction, _ blocks: NextBlocks, keys: VaultKeys,
        in store: any FileStore
    ) throws(VaultError) -> VaultObservation {
        transaction.index.metadata.remember(
            generation: header.generation, tag: try tableTag())
        transaction.index.metadata.remember(transaction.superseded)
        if let end = transaction.auditPosition { transaction.index.metadata.recordAudit(end) }
        var next = try header.successor(
            after: transaction.superseded.map(\.generation).max() ?? 0)
        next.slots = transaction.slots
        let sealed = try next.sealing(transaction.index, blocks, keys: keys)
        try store.replace(
            path,
            with: [.bytes(sealed.header), .bytes(sealed.table)]
                + blocks.parts(from: self, newChunks: transaction.newChunks))
        return next.sighting(sealed.table)
    }
}

extension VaultTransaction {
    /// Returns whether the vault would be written differently from how it was read.
    fileprivate mutating func isChanged(
        from vault: Vault, _ blocks: NextBlocks
    ) throws(VaultError) -> Bool {
        if slots != header.slots || !superseded.isEmpty || blocks.isChanged { return true }
        let encoded = try index.encodedTable()
        return encoded.withBytes { new in
            vault.opening?.table.withBytes { !$0.isEqualInConstantTime(to: new) } ?? true
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

    /// Returns the sighting of a vault with this header and sealed table.
    func sighting(_ sealedTable: [UInt8]) -> VaultObservation {
        VaultObservation(
            position: VaultPosition(
                generation: generation, indexTag: Array(sealedTable.suffix(16))),
            publicKey: publicKey)
    }

    /// Seals a table and its proof under this header, setting its lengths and nonce.
    ///
    /// - Parameter index: Whose table names the sections of these blocks.
    mutating func sealing(
        _ index: VaultIndex, _ blocks: NextBlocks, keys: VaultKeys
    ) throws(VaultError) -> (header: [UInt8], table: [UInt8]) {
        var index = index
        index.sections = blocks.sections
        var encoded = try index.encodedTable()
        if blocks.isChecked {
            let copy = try encoded.withBytes { (bytes) throws(VaultError) in
                try guarding { () throws(SealingError) in try SecretArena().copy(bytes) }
            }
            do throws(VaultError) {
                _ = try VaultIndex.decode(
                    table: copy, extent: .everything, blocksByteCount: blocks.byteCount)
            } catch {
                throw VaultError(.tooLarge, "the vault could not be read again: \(error.reason)")
            }
        }
        tableNonce = AuthenticatedCipher.randomNonce()
        tableByteCount = UInt64(
            encoded.count + IndexProof.byteCount + AuthenticatedCipher.tagByteCount)
        fileByteCount = UInt64(byteCount) + tableByteCount + blocks.byteCount
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
                $0, nonce: tableNonce,
                additionalData: VaultHeader.tableAssociatedData(header: header), key: key,
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
}
