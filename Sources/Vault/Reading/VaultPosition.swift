internal import Sealing

/// One generation of one vault, by which a later reader tells an older copy from a newer one.
package struct VaultPosition: Equatable, Sendable {
    /// The generation's number.
    package let generation: UInt64
    /// The authentication tag of its index, 16 bytes.
    package let indexTag: [UInt8]

    /// Names both parts.
    package init(generation: UInt64, indexTag: [UInt8]) {
        self.generation = generation
        self.indexTag = indexTag
    }
}

/// What is known of a vault that was seen before.
package enum VaultContinuity: Equatable, Sendable {
    /// It is the generation seen, or came from it by writes.
    case follows
    /// More writes lie between than the vault remembers, so nobody can tell.
    case unknown
}

/// How a file stands to a generation of it that was seen earlier.
package enum VaultStanding: Equatable, Sendable {
    /// It is that generation.
    case same
    /// It came from that generation by writes.
    case follows
    /// It is newer, and more writes lie between than the vault remembers, so nobody can tell.
    case unknown
    /// It is an older copy.
    case older
    /// It did not come from that generation.
    case otherHistory

    /// Tells whether nothing speaks against the file.
    package var isAccepted: Bool { self != .older && self != .otherHistory }
}

extension IndexMetadata {
    /// How a file of a later generation stands to one that was seen.
    fileprivate func standing(to seen: VaultPosition) -> VaultStanding {
        if let remembered = generationTags.first(where: { $0.generation == seen.generation }) {
            return remembered.tag == seen.indexTag ? .follows : .otherHistory
        }
        let isForgotten =
            generationTags.count >= VaultFormat.generationTagLimit
            && generationTags.first.map { $0.generation > seen.generation } ?? false
        return isForgotten ? .unknown : .otherHistory
    }
}

extension Vault {
    /// Where this file stands. The tag is no proof by itself: it holds once the index has opened.
    package func position() throws(VaultError) -> VaultPosition {
        VaultPosition(generation: header.generation, indexTag: try indexTag())
    }

    /// How this file stands to a generation that was seen earlier.
    ///
    /// Opens the index only where the file is newer; in the same generation the caller's own opening
    /// of the index proves the tag.
    package func standing(
        to seen: VaultPosition, with keys: VaultKeys
    ) throws(VaultError) -> VaultStanding {
        let now = try position()
        if now.generation > seen.generation {
            return try metadata(with: keys).standing(to: seen)
        }
        if now.generation < seen.generation { return .older }
        return now.indexTag == seen.indexTag ? .same : .otherHistory
    }

    /// Checks that this file is the generation seen earlier, or came from it; see
    /// ``standing(to:with:)``.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for an older copy, and for a file of another history.
    package func continuity(
        since seen: VaultPosition, with keys: VaultKeys
    ) throws(VaultError) -> VaultContinuity {
        let standing = try standing(to: seen, with: keys)
        guard standing.isAccepted else {
            throw objection(to: standing, seen, when: "when it was unlocked", of: "was unlocked")
        }
        return standing == .unknown ? .unknown : .follows
    }

    /// Checks that this file, of which the metadata are `metadata`, came from the one that was opened.
    func expect(
        toFollow seen: VaultPosition, _ metadata: IndexMetadata
    ) throws(VaultError) {
        let now = try position()
        var standing = VaultStanding.older
        if now.generation == seen.generation {
            standing = now.indexTag == seen.indexTag ? .same : .otherHistory
        } else if now.generation > seen.generation {
            standing = metadata.standing(to: seen)
        }
        guard standing.isAccepted else {
            throw objection(to: standing, seen, when: "a moment ago", of: "was opened")
        }
    }

    /// Sees that the public key is the one that was seen here, while nobody can derive it, and that the
    /// checkpoint is no older one.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    func expect(
        _ pinned: VaultSighting, _ index: VaultIndex, with keys: VaultKeys
    ) throws(VaultError) {
        guard keys.opensValues || header.publicKey == pinned.publicKey else { throw foreignKey }
        try expectCheckpoint(index, notBefore: pinned.checkpointGeneration)
    }

    /// What to say of another public key than the one that was seen last.
    package var foreignKey: VaultError {
        VaultError(
            .damaged,
            "the public key of \(path) is not the one last seen on this machine: the person who "
                + "changed it could read values written now")
    }

    /// Sees that nobody put back a checkpoint from before one that was seen.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package func expectCheckpoint(
        _ index: VaultIndex, notBefore generation: UInt64
    ) throws(VaultError) {
        if index.checkpointGeneration < generation { throw olderCheckpoint }
    }

    /// What to say of a checkpoint from before one that was seen.
    package var olderCheckpoint: VaultError {
        VaultError(
            .damaged,
            "what is accepted in \(path) is older than what was last accepted on this machine")
    }

    /// What to say of a file that is not accepted.
    ///
    /// - Parameters:
    ///   - when: Ends "… was seen".
    ///   - event: Ends "did not come from the vault that …".
    package func objection(
        to standing: VaultStanding, _ seen: VaultPosition, when: String, of event: String
    ) -> VaultError {
        guard standing == .older else {
            return VaultError(.damaged, "\(path) did not come from the vault that \(event)")
        }
        return VaultError(
            .damaged,
            "\(path) is an older copy: it has generation \(header.generation), and "
                + "\(seen.generation) was seen \(when)")
    }

    /// The metadata alone: the caller decodes the rest when it needs it, and should not wait twice.
    private func metadata(with keys: VaultKeys) throws(VaultError) -> IndexMetadata {
        try openedIndex(with: keys).withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                var content = try reader.section(Int(try reader.uint32()))
                return try IndexMetadata.decode(frontOf: &content)
            }
        }
    }
}
