internal import CLinux
package import Sealing

/// What a search looks for: digests under a random key of values in all their forms, and no value.
///
/// Of each form a window of eight bytes is known by a fingerprint of 32 bits; where one is met, the whole
/// candidate is hashed (BLAKE2b) and compared with the digest of the form. Does not change once made, so
/// that several threads may search with it.
@safe
package final class SearchTable: @unchecked Sendable {
    /// The shortest value that can be looked for.
    package static let shortest = 8
    static let windowByteCount = 8

    /// One form of one value.
    struct Pattern {
        let value: Int
        let form: ValueForm
        let count: Int
        /// Whether line ends, blanks and the alphabet of base64 make no difference.
        let isLoose: Bool
        let digest: [UInt8]

        /// How far from a window of a loose form a candidate may reach: blanks count as well.
        var reach: Int { 2 * count + 256 }
    }

    /// A window of a pattern, and how many bytes of the pattern come before it.
    struct Anchor {
        let fingerprint: UInt32
        let pattern: Int
        let offset: Int
    }

    private(set) var patterns: [Pattern] = []
    /// In ascending order of fingerprints.
    private var anchors: [Anchor] = []
    private let key: SecretBytes
    private(set) var table: zg_search_table
    /// How many bytes before and behind the start of a window a candidate may take.
    private(set) var (lookBehind, lookAhead) = (0, SearchTable.windowByteCount)

    /// Whether there is nothing to look for.
    package var isEmpty: Bool { patterns.isEmpty }

    /// Makes the digests of values, each of which is named by its place. The values are not kept.
    package init(_ values: [SecretSlice]) throws(SealingError) {
        key = try SecretBytes.random(count: Digest.byteCount)
        let numbers = Random.bytes(16).withBytes { bytes in
            (
                unsafe bytes.unsafeLoadUnaligned(as: UInt64.self),
                unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)
            )
        }
        unsafe table = zg_search_table(
            key: numbers.0, factor: numbers.1 | 1, filter: .init(Self.zeros(1)), filter_shift: 31,
            slots: .init(Self.zeros(1)), slot_mask: 0)
        var forms = SearchForms(in: self)
        var buffer = try SecretBuffer()
        for (number, value) in values.enumerated() {
            try forms.add(value, number: number, by: &buffer)
        }
        fill()
    }

    deinit {
        unsafe table.filter.deallocate()
        unsafe table.slots.deallocate()
    }

    private static func zeros<T: FixedWidthInteger>(_ count: Int) -> UnsafeMutablePointer<T> {
        let numbers = UnsafeMutablePointer<T>.allocate(capacity: count)
        unsafe numbers.initialize(repeating: 0, count: count)
        return unsafe numbers
    }

    private func fill() {
        anchors.sort { $0.fingerprint < $1.fingerprint }
        var bits: UInt32 = 15
        while bits < 24, 1 << bits < 64 * anchors.count { bits += 1 }
        var slotCount = 16
        while slotCount < 2 * anchors.count { slotCount *= 2 }
        let filter: UnsafeMutablePointer<UInt8> = unsafe Self.zeros(1 << (bits - 3))
        let slots: UnsafeMutablePointer<UInt32> = unsafe Self.zeros(slotCount)
        let mask = UInt32(slotCount - 1)
        for anchor in anchors {
            let print = anchor.fingerprint
            // What hashes to 0 is kept as 1, and is to pass the filter either way.
            for bit in [print, print == 1 ? 0 : print].map({ $0 >> (32 - bits) }) {
                unsafe filter[Int(bit >> 3)] |= 1 << UInt8(bit & 7)
            }
            var slot = print & mask
            while unsafe slots[Int(slot)] != 0, unsafe slots[Int(slot)] != print {
                slot = (slot + 1) & mask
            }
            unsafe slots[Int(slot)] = print
        }
        unsafe table.filter.deallocate()
        unsafe table.slots.deallocate()
        unsafe table.filter = UnsafePointer(filter)
        unsafe table.slots = UnsafePointer(slots)
        unsafe table.filter_shift = 32 - bits
        unsafe table.slot_mask = mask
    }

    // MARK: Building

    /// The digest of bytes under this table's key.
    func digest(_ bytes: RawSpan) throws(SealingError) -> [UInt8] { try key.digest(of: bytes) }

    /// Adds a pattern and returns its number.
    func add(_ pattern: Pattern) -> Int {
        patterns.append(pattern)
        if pattern.isLoose {
            // A step backwards looks at three bytes.
            lookBehind = max(lookBehind, pattern.reach + 4)
            lookAhead = max(lookAhead, pattern.reach)
        }
        return patterns.count - 1
    }

    /// Adds a window of a pattern, of which `offset` bytes come before it.
    func anchor(_ window: RawSpan, of pattern: Int, offset: Int) {
        let print = unsafe window.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, bytes.count == Self.windowByteCount else {
                preconditionFailure("a window has eight bytes")
            }
            return unsafe zg_search_fingerprint(&table, base)
        }
        anchors.append(Anchor(fingerprint: print, pattern: pattern, offset: offset))
        guard !patterns[pattern].isLoose else { return }
        lookBehind = max(lookBehind, offset)
        lookAhead = max(lookAhead, patterns[pattern].count - offset)
    }

    // MARK: Searching

    /// The windows with a fingerprint.
    func anchors(_ fingerprint: UInt32) -> ArraySlice<Anchor> {
        var (low, high) = (0, anchors.count)
        while low < high {
            let middle = (low + high) / 2
            if anchors[middle].fingerprint < fingerprint { low = middle + 1 } else { high = middle }
        }
        return anchors[low...].prefix { $0.fingerprint == fingerprint }
    }

    /// Whether bytes are a pattern.
    func matches(_ bytes: RawSpan, _ pattern: Int) throws(SealingError) -> Bool {
        let found = try digest(bytes)
        return found.withBytes { found in
            patterns[pattern].digest.withBytes { $0.isEqualInConstantTime(to: found) }
        }
    }
}

extension SecretBytes {
    /// The digest of bytes under this key.
    borrowing func digest(of bytes: RawSpan) throws(SealingError) -> [UInt8] {
        let digest = try withBytes { (key) throws(SealingError) in
            try Digest.keyed(bytes, key: key)
        }
        return digest.withBytes { digest in
            (0..<digest.byteCount).map { digest.byte(at: $0) }
        }
    }
}
