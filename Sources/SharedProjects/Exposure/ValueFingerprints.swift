package import Sealing

/// Compares values without keeping them: BLAKE2b under a random key that ends with the object.
package final class ValueFingerprints {
    /// 32 bytes.
    package typealias Fingerprint = [UInt8]

    private let key: SecretBytes

    package init() throws { key = try SecretBytes.random(count: 32) }

    package func fingerprint(of value: SecretSlice) throws -> Fingerprint {
        let digest = try value.withBytes { (value) throws(SealingError) in
            try key.withBytes { (key) throws(SealingError) in try Digest.keyed(value, key: key) }
        }
        return digest.withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } }
    }
}
