internal import Sealing
internal import SystemFiles

/// A permanent random id of a vault, slot, project, record or batch: 16 bytes.
package struct Identifier: Hashable, Comparable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Returns nil unless there are 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var parts: [UInt64] = [0, 0]
        for (index, byte) in bytes.enumerated() {
            parts[index / 8] = parts[index / 8] << 8 | UInt64(byte)
        }
        (high, low) = (parts[0], parts[1])
    }

    init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Sixteen zeros, which no generated identifier is.
    static let zero = Identifier(high: 0, low: 0)

    /// Generates a new identifier.
    package static func random() -> Identifier {
        var parts: [UInt64] = [0, 0]
        for (index, byte) in Random.bytes(16).enumerated() {
            parts[index / 8] = parts[index / 8] << 8 | UInt64(byte)
        }
        return Identifier(high: parts[0], low: parts[1])
    }

    /// 16 bytes, in comparison order.
    package var bytes: [UInt8] {
        [high, low].flatMap { part in
            (0..<8).map { UInt8(truncatingIfNeeded: part >> (56 - 8 * UInt64($0))) }
        }
    }

    /// 32 lowercase hexadecimal digits.
    package var hexadecimal: String { Hexadecimal.text(of: bytes) }

    package static func < (left: Identifier, right: Identifier) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    var parts: (UInt64, UInt64) { (high, low) }
}
