package import PostalProtocol
package import Sealing

/// Decrypts events that a relay sealed for this device.
package final class EventOpener {
    private let pair: SealedBox.KeyPair

    /// - Parameter seed: The seed of the device's key pair, 32 bytes.
    package init(seed: SecretSlice) throws(SealingError) {
        let copy = try seed.withBytes { (bytes) throws(SealingError) in
            try SecretBytes(copying: bytes)
        }
        pair = try SealedBox.KeyPair(seed: copy)
    }

    /// The public key that the relay seals for, 32 bytes.
    package var publicKey: [UInt8] { pair.publicKey }

    /// Returns the event in a box; nil if the box is for a different key or was changed, or if
    /// ``PostalEvent/init(sealedText:)`` does not accept its contents, such as a newer format.
    package func open(_ box: [UInt8]) -> PostalEvent? {
        guard box.count > SealedBox.overheadByteCount else { return nil }
        var text = [UInt8](repeating: 0, count: box.count - SealedBox.overheadByteCount)
        let isOpen = unsafe text.withUnsafeMutableBytes { buffer in
            var target = unsafe MutableRawSpan(_unsafeBytes: buffer)
            return box.withBytes { box in
                do throws(SealingError) {
                    try SealedBox.open(box, with: pair, into: &target)
                    return true
                } catch { return false }
            }
        }
        return isOpen ? PostalEvent(sealedText: text) : nil
    }
}
