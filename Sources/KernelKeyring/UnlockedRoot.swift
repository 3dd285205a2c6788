package import Sealing
package import Vault

/// A cached root, and what was known about the vault when it was cached.
package struct UnlockedRoot: ~Copyable {
    /// Bytes of the encoding: root 32, generation u64, index tag 16, expiry u64.
    static let byteCount = 64

    /// 32 bytes; ``takeRoot()`` transfers ownership.
    private let root: SecretBytes
    /// The generation that was opened with the root.
    package let position: VaultPosition
    /// The expiry, in seconds since 1970. The kernel's timeout is not enough: any process of the
    /// same user can change it.
    package let endsAt: UInt64
    package let scope: UnlockScope

    package consuming func takeRoot() -> SecretBytes { root }

    /// Returns the 64 bytes to seal.
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

    /// Decodes the 64 bytes.
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
    /// Returns the little-endian integer in the eight bytes at `offset`, which must be in bounds.
    func integer(at offset: Int) -> UInt64 {
        var value: UInt64 = 0
        for place in 0..<8 { value |= UInt64(byte(at: offset + place)) << (8 * UInt64(place)) }
        return value
    }
}
