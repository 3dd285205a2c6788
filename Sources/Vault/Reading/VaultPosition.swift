internal import Sealing

/// A generation of a vault, used to tell older copies from newer ones.
package struct VaultPosition: Equatable, Sendable {
    package let generation: UInt64
    /// The authentication tag of the index, 16 bytes.
    package let indexTag: [UInt8]

    package init(generation: UInt64, indexTag: [UInt8]) {
        self.generation = generation
        self.indexTag = indexTag
    }
}

/// How a file relates to a generation that was seen before.
package enum VaultRelation: Equatable, Sendable {
    case same
    /// It descends from that generation.
    case follows
    /// It is newer, but there were more writes since than the vault remembers.
    case unknown
    /// It is an older copy.
    case older
    /// It does not descend from that generation.
    case otherHistory

    /// Whether there is no evidence against the file.
    package var isAccepted: Bool { self != .older && self != .otherHistory }
}

extension IndexMetadata {
    /// Returns how a later generation with this metadata relates to one that was seen.
    fileprivate func standing(to seen: VaultPosition) -> VaultRelation {
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
    /// The position of this file. The tag is unauthenticated until the index was opened.
    package func position() throws(VaultError) -> VaultPosition {
        VaultPosition(generation: header.generation, indexTag: try tableTag())
    }

    /// Returns what is seen of this file, for the rollback guards.
    package func observation() throws(VaultError) -> VaultObservation {
        VaultObservation(position: try position(), publicKey: header.publicKey)
    }

    /// Returns how this file relates to a generation that was seen before.
    ///
    /// Opens the index only if the file is newer. For the same generation, the caller's own opening
    /// of the index proves the tag.
    package func standing(
        to seen: VaultPosition, with keys: VaultKeys
    ) throws(VaultError) -> VaultRelation {
        try standing(to: seen) { () throws(VaultError) in
            try metadata(with: keys)
        }
    }

    /// - Parameter metadata: Called if this file is newer.
    private func standing(
        to seen: VaultPosition, _ metadata: () throws(VaultError) -> IndexMetadata
    ) throws(VaultError) -> VaultRelation {
        let now = try position()
        if now.generation > seen.generation { return try metadata().standing(to: seen) }
        if now.generation < seen.generation { return .older }
        return now.indexTag == seen.indexTag ? .same : .otherHistory
    }

    /// Checks that this file is the generation seen when it was unlocked or a descendant; see
    /// ``standing(to:with:)``.
    ///
    /// - Returns: False if there were more writes since than the vault remembers.
    /// - Throws: ``VaultError/Code/damaged`` for an older copy or a file with a different history.
    package func follows(
        _ seen: VaultPosition, with keys: VaultKeys
    ) throws(VaultError) -> Bool {
        let standing = try standing(to: seen, with: keys)
        guard standing.isAccepted else {
            throw objection(
                to: standing, seen, when: "was seen when it was unlocked", of: "was unlocked")
        }
        return standing != .unknown
    }

    /// Checks that this file with this metadata descends from the one that was opened.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for an older copy; ``VaultError/Code/epochChanged`` for
    ///   another history, as after another process restored a backup: whether that is to be accepted is
    ///   decided when it is opened again.
    func expect(
        toFollow seen: VaultPosition, _ metadata: IndexMetadata
    ) throws(VaultError) {
        let standing = try standing(to: seen) { metadata }
        guard standing.isAccepted else {
            guard standing == .older else {
                throw VaultError(
                    .epochChanged,
                    "\(path) was replaced with another copy while the command was running")
            }
            throw objection(to: standing, seen, when: "was seen a moment ago", of: "was opened")
        }
    }

    /// The error for a public key other than the one last seen.
    package var replacedPublicKey: VaultError {
        VaultError(
            .damaged,
            "the public key of \(path) is not the one last seen on this machine, so it is not known "
                + "who wrote the vault")
    }

    /// Returns the error for a file that is not accepted.
    ///
    /// - Parameters:
    ///   - when: Completes "generation N …".
    ///   - event: Completes "is not based on the vault that …".
    package func objection(
        to standing: VaultRelation, _ seen: VaultPosition, when: String, of event: String
    ) -> VaultError {
        guard standing == .older else {
            return VaultError(.damaged, "\(path) is not based on the vault that \(event)")
        }
        return VaultError(
            .damaged,
            "\(path) is an older copy: it has generation \(header.generation), but "
                + "generation \(seen.generation) \(when)")
    }
}
