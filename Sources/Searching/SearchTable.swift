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

    let forms: SearchForms
    let fingerprints: zg_search_table

    /// Whether there is nothing to look for.
    package var isEmpty: Bool { forms.patterns.isEmpty }

    /// Makes the digests of values, each of which is named by its place. The values are not kept.
    package init(_ values: [SecretSlice]) throws(SealingError) {
        var forms = try SearchForms()
        var buffer = try SecretBuffer()
        for (number, value) in values.enumerated() {
            try forms.add(value, number: number, by: &buffer)
        }
        self.forms = forms
        var bits: UInt32 = 15
        while bits < 24, 1 << bits < 64 * forms.anchors.count { bits += 1 }
        var slotCount = 16
        while slotCount < 2 * forms.anchors.count { slotCount *= 2 }
        let filter: UnsafeMutablePointer<UInt8> = unsafe Self.zeros(1 << (bits - 3))
        let slots: UnsafeMutablePointer<UInt32> = unsafe Self.zeros(slotCount)
        let mask = UInt32(slotCount - 1)
        for print in forms.anchors.keys {
            // What hashes to 0 is kept as 1, and is to pass the filter either way.
            for bit in [print, print == 1 ? 0 : print].map({ $0 >> (32 - bits) }) {
                unsafe filter[Int(bit >> 3)] |= 1 << UInt8(bit & 7)
            }
            var slot = print & mask
            while unsafe slots[Int(slot)] != 0 { slot = (slot + 1) & mask }
            unsafe slots[Int(slot)] = print
        }
        unsafe fingerprints = zg_search_table(
            key: forms.key, factor: forms.factor, filter: filter, filter_shift: 32 - bits,
            slots: slots, slot_mask: mask)
    }

    deinit {
        unsafe fingerprints.filter.deallocate()
        unsafe fingerprints.slots.deallocate()
    }

    private static func zeros<T: FixedWidthInteger>(_ count: Int) -> UnsafeMutablePointer<T> {
        let numbers = UnsafeMutablePointer<T>.allocate(capacity: count)
        unsafe numbers.initialize(repeating: 0, count: count)
        return unsafe numbers
    }
}
