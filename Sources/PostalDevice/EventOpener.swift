package import PostalProtocol
package import Sealing

/// Opens what a relay sealed to this device.
package final class EventOpener {
    private let pair: SealedBox.KeyPair

    /// - Parameter seed: Of the device's key pair, 32 bytes.
    package init(seed: SecretSlice) throws(SealingError) {
        let copy = try seed.withBytes { (bytes) throws(SealingError) in
            try SecretBytes(copying: bytes)
        }
        pair = try SealedBox.KeyPair(seed: copy)
    }

    /// What the relay is told, 32 bytes.
    package var publicKey: [UInt8] { pair.publicKey }

    /// The event in a box; nil for a box of another key or changed bytes, and for what
    /// ``PostalEvent/init(sealedText:)`` does not take, such as a newer form.
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
