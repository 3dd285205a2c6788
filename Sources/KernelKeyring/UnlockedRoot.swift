package import Sealing
package import Vault

/// What the cache gives back: the root, and what was known of the vault when it was put there.
package struct UnlockedRoot: ~Copyable {
    /// Bytes of the encoding: root 32, generation u64, index tag 16, end u64.
    static let byteCount = 64

    /// The root, 32 bytes. Taken out with ``takeRoot()``.
    private let root: SecretBytes
    /// The generation that was opened with it.
    package let position: VaultPosition
    /// When it ends, in seconds since 1970. The kernel's timeout ends it too, but anybody of the same
    /// user can change that.
    package let endsAt: UInt64
    /// For whom.
    package let scope: UnlockScope

    /// The root, of which this was the keeper.
    package consuming func takeRoot() -> SecretBytes { root }

    /// The 64 bytes that are sealed.
    static func encoded(
        root: RawSpan, position: VaultPosition, endsAt: UInt64
    ) throws(KernelKeyringError) -> SecretBytes {
        precondition(root.byteCount == 32 && position.indexTag.count == 16)
        var text = try guarding { () throws(SealingError) in try SecretBytes(count: byteCount) }
        text.withMutableBytes { target in
            target.copy(from: root)
            target.storeBytes(
                of: position.generation.littleEndian, toByteOffset: 32, as: UInt64.self)
            for (offset, byte) in position.indexTag.enumerated() {
                target.storeBytes(of: byte, toByteOffset: 40 + offset, as: UInt8.self)
            }
            target.storeBytes(of: endsAt.littleEndian, toByteOffset: 56, as: UInt64.self)
        }
        return text
    }

    /// Takes the 64 bytes apart.
    init(decoding text: borrowing SecretBytes, scope: UnlockScope) throws(KernelKeyringError) {
        precondition(text.count == Self.byteCount)
        root = try guarding { () throws(SealingError) in
            try text.withBytes { (bytes) throws(SealingError) in
                try SecretBytes(copying: bytes.extracting(first: 32))
            }
        }
        position = text.withBytes { bytes in
            VaultPosition(
                generation: bytes.integer(at: 32),
                indexTag: (40..<56).map { bytes.byte(at: $0) })
        }
        endsAt = text.withBytes { $0.integer(at: 56) }
        self.scope = scope
    }
}

extension RawSpan {
    /// The little-endian number of eight bytes at `offset`, which must be inside.
    func integer(at offset: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(byte(at: offset + $1)) << (8 * UInt64($1)) }
    }
}
