package import Sealing

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

extension Vault {
    /// Where this file stands. The tag is no proof by itself: it holds once the index has opened.
    package func position() throws(VaultError) -> VaultPosition {
        VaultPosition(generation: header.generation, indexTag: try indexTag())
    }

    /// Checks that this file is the generation seen earlier, or came from it.
    ///
    /// Opens the index only where the file is newer; in the same generation the caller's own opening
    /// of the index proves the tag.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for an older copy, and for a file of another history.
    package func continuity(
        since seen: VaultPosition, with keys: VaultKeys
    ) throws(VaultError) -> VaultContinuity {
        let now = try position()
        if now.generation < seen.generation {
            throw VaultError(
                .damaged,
                "\(path) is an older copy: it has generation \(now.generation), and "
                    + "\(seen.generation) was seen when it was unlocked")
        }
        if now.generation == seen.generation {
            guard now.indexTag == seen.indexTag else { throw otherHistory() }
            return .follows
        }
        let tags = try metadata(with: keys).generationTags
        if let remembered = tags.first(where: { $0.generation == seen.generation }) {
            guard remembered.tag == seen.indexTag else { throw otherHistory() }
            return .follows
        }
        let isForgotten =
            tags.count >= VaultFormat.generationTagLimit
            && tags.first.map { $0.generation > seen.generation } ?? false
        guard isForgotten else { throw otherHistory() }
        return .unknown
    }

    /// The metadata alone: the caller decodes the rest when it needs it, and should not wait twice.
    private func metadata(with keys: VaultKeys) throws(VaultError) -> IndexMetadata {
        try openedIndex(with: keys).withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                var content = try reader.section(Int(try reader.uint32()))
                var section = try content.section(Int(try content.uint32()))
                let metadata = try IndexMetadata.decode(from: &section)
                try section.expectEnd(of: "the metadata")
                return metadata
            }
        }
    }

    private func otherHistory() -> VaultError {
        VaultError(.damaged, "\(path) did not come from the vault that was unlocked")
    }

    /// Takes a root that was kept elsewhere, of 32 bytes.
    ///
    /// - Throws: ``VaultError/Code/damaged`` when the vault's public key is not that of the root.
    package func unlock(root: consuming SecretBytes) throws(VaultError) -> VaultKeys {
        try keys(root: RootKey(root))
    }
}

extension VaultKeys {
    /// Lends the 32 bytes of the root to what keeps them for a time; nil while the values are locked.
    package func withRoot<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
        try root?.withBytes(body)
    }
}

extension RootKey {
    fileprivate borrowing func withBytes<R, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R { try bytes.withBytes(body) }
}
