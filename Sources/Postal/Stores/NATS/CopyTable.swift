internal import Sealing

/// A device's sortable name among copies: a digest of its id.
struct RecipientName: Hashable, Comparable, Sendable {
    static let byteCount = 16

    let high: UInt64
    let low: UInt64

    init(device id: String) {
        let digest = Array("zg-env-postal recipient\0\(id)".utf8).withBytes { Digest.checksum($0) }
        (high, low) = (digest.word(at: 0), digest.word(at: 8))
    }

    init?(_ bytes: [UInt8], at place: Int) {
        guard place >= 0, place + Self.byteCount <= bytes.count else { return nil }
        (high, low) = (bytes.word(at: place), bytes.word(at: place + 8))
    }

    var bytes: [UInt8] {
        [high, low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map {
                UInt8(truncatingIfNeeded: half >> UInt64($0))
            }
        }
    }

    static func < (one: Self, two: Self) -> Bool {
        (one.high, one.low) < (two.high, two.low)
    }
}

/// Copies of one event in the order of their devices' names, all of the same length.
struct CopyTable: Equatable, Sendable {
    /// The length of a copy, their count, names, copies.
    let bytes: [UInt8]

    private static let headCount = 16

    /// Returns how many copies fit into a message.
    static func capacity(byteLimit: Int, copyLength: Int) -> Int {
        max(1, (byteLimit - headCount) / (copyLength + RecipientName.byteCount))
    }

    /// Returns the size of a table.
    static func byteCount(count: Int, copyLength: Int) -> Int {
        headCount + count * (copyLength + RecipientName.byteCount)
    }

    /// - Parameter copies: In the order of names.
    init(_ copies: ArraySlice<(name: RecipientName, sealed: [UInt8])>) {
        let length = copies.first?.sealed.count ?? 0
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount(count: copies.count, copyLength: length))
        bytes.append(number: Int64(length))
        bytes.append(number: Int64(copies.count))
        for copy in copies { bytes += copy.name.bytes }
        for copy in copies { bytes += copy.sealed }
        self.bytes = bytes
    }

    /// Parses a table from a position to the end; nil if it is malformed.
    init?(_ bytes: [UInt8], from place: Int = 0) {
        guard place >= 0, let length = bytes.number(at: place),
            let count = bytes.number(at: place + 8), length <= 65_536, count <= 65_536,
            bytes.count == place + Self.byteCount(count: Int(count), copyLength: Int(length))
        else { return nil }
        self.bytes = place == 0 ? bytes : Array(bytes[place...])
    }

    private var length: Int { Int(bytes.number(at: 0) ?? 0) }
    private var count: Int { Int(bytes.number(at: 8) ?? 0) }

    /// Returns the copy of a device; nil if it has none.
    func copy(for name: RecipientName) -> [UInt8]? {
        let (length, count) = (length, count)
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            guard
                let other = RecipientName(
                    bytes, at: Self.headCount + middle * RecipientName.byteCount)
            else { return nil }
            if other == name {
                let start = Self.headCount + count * RecipientName.byteCount + middle * length
                return Array(bytes[start..<(start + length)])
            }
            if other < name { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
