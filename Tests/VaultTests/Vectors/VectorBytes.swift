@testable import Vault

/// There is no place to change, or more than one.
struct AmbiguousChange: Error {
    let places: Int
}

extension [UInt8] {
    /// Replaces the only occurrence of `old`.
    mutating func change(_ old: [UInt8], to new: [UInt8]) throws {
        let places = indices.filter { $0 + old.count <= count && self[$0] == old[0] }
            .filter { Array(self[$0..<($0 + old.count)]) == old }
        guard places.count == 1 else { throw AmbiguousChange(places: places.count) }
        replaceSubrange(places[0]..<(places[0] + old.count), with: new)
    }

    /// Writes a little-endian number at `offset`.
    mutating func write<T: FixedWidthInteger>(_ value: T, at offset: Int) {
        for byte in 0..<MemoryLayout<T>.size {
            self[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * T(byte)))
        }
    }
}

/// The bytes that a ``ByteWriter`` writes.
func encoded(_ body: (inout ByteWriter) -> Void) -> [UInt8] {
    var writer = ByteWriter()
    body(&writer)
    return writer.bytes
}

func text(_ text: String) -> [UInt8] { encoded { $0.text(text) } }
func u32(_ value: UInt32) -> [UInt8] { encoded { $0.uint32(value) } }
func u64(_ value: UInt64) -> [UInt8] { encoded { $0.uint64(value) } }

/// A part of the index that is a list of these items.
func list(_ items: [[UInt8]]) -> [UInt8] { u32(UInt32(items.count)) + items.joined() }
