internal import Sealing

/// A BLAKE2b-256 of sealed bytes. Not an array, because a vault has thousands.
package struct Checksum: Equatable, Sendable {
    package static let byteCount = Digest.byteCount

    private let parts: (UInt64, UInt64, UInt64, UInt64)

    init(of sealed: RawSpan) {
        self.init(Digest.checksum(sealed))
    }

    /// - Parameter bytes: 32 bytes.
    init(_ bytes: [UInt8]) {
        func part(_ start: Int) -> UInt64 {
            (0..<8).reversed().reduce(0) { $0 << 8 | UInt64(bytes[start + $1]) }
        }
        parts = (part(0), part(8), part(16), part(24))
    }

    init(from reader: inout ByteReader) throws(VaultError) {
        parts = (
            try reader.uint64(), try reader.uint64(), try reader.uint64(), try reader.uint64()
        )
    }

    func encode(into writer: inout ByteWriter) {
        writer.uint64(parts.0)
        writer.uint64(parts.1)
        writer.uint64(parts.2)
        writer.uint64(parts.3)
    }

    package static func == (left: Checksum, right: Checksum) -> Bool { left.parts == right.parts }
}
