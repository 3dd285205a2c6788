/// Writes the little-endian encoding that ``ByteReader`` reads.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    mutating func byte(_ value: UInt8) { bytes.append(value) }
    mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

    private mutating func integer(_ value: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    mutating func uint16(_ value: UInt16) { integer(value) }
    mutating func uint32(_ value: UInt32) { integer(value) }
    mutating func uint64(_ value: UInt64) { integer(value) }
    mutating func raw(_ value: [UInt8]) { bytes.append(contentsOf: value) }

    mutating func identifier(_ value: Identifier) {
        integer(value.parts.0.bigEndian.littleEndian)
        integer(value.parts.1.bigEndian.littleEndian)
    }

    mutating func text(_ value: String) {
        uint32(UInt32(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func optionalText(_ value: String?) {
        flag(value != nil)
        if let value { text(value) }
    }

    /// Writes what `body` writes, behind its length as u32.
    mutating func section(_ body: (inout ByteWriter) -> Void) {
        let start = bytes.count
        uint32(0)
        body(&self)
        let length = UInt32(bytes.count - start - 4)
        for index in 0..<4 {
            bytes[start + index] = UInt8(truncatingIfNeeded: length >> (8 * UInt32(index)))
        }
    }
}
