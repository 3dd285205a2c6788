internal import Sealing

/// Who wrote an index: the last 96 bytes of the opened one, a code and a signature over the whole
/// header and the whole content. Only the root makes either, so an index that was checked was
/// written by someone with the root.
struct IndexProof {
    static let byteCount = VaultFormat.indexProofByteCount
    static let codeByteCount = byteCount - SigningKeyPair.signatureByteCount

    private static let label = Array("zgv3/signed".utf8) + [UInt8](repeating: 0, count: 5)

    /// The label and the hash of header and content: 80 bytes.
    ///
    /// A hash, although the index's seal authenticates the same bytes: who holds the key of a seal
    /// can make two texts with one tag.
    fileprivate let covered: [UInt8]

    /// - Parameters:
    ///   - header: The encoded header, complete.
    ///   - content: The padded content of the index, without a proof.
    init(of header: [UInt8], _ content: RawSpan) {
        covered = Self.label + (Self.label + header).withBytes { Digest.long($0, then: content) }
    }

    /// Returns whether a proof has a signature of the root with this public key.
    func isSigned(_ proof: [UInt8], by publicKey: [UInt8]) -> Bool {
        (covered + proof[Self.codeByteCount...]).withBytes {
            SigningKeyPair.isSigned($0, by: publicKey)
        }
    }
}

extension RootKey {
    /// Makes a proof as it is written: the code, then the signature.
    borrowing func proof(_ proof: IndexProof) throws(VaultError) -> [UInt8] {
        let pair = try signingPair()
        return try code(of: proof) + proof.covered.withBytes { pair.signature(of: $0) }
    }

    /// Returns whether the code in a proof as written is the one that this root makes.
    borrowing func made(_ found: [UInt8], of proof: IndexProof) throws(VaultError) -> Bool {
        let code = try code(of: proof)
        return found.withBytes { found in
            code.withBytes {
                found.extracting(first: IndexProof.codeByteCount).isEqualInConstantTime(to: $0)
            }
        }
    }

    private borrowing func code(of proof: IndexProof) throws(VaultError) -> [UInt8] {
        let key = try indexCodeKey()
        return proof.covered.withBytes { Digest.code(of: $0, key: key) }
    }
}
