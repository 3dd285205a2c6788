internal import CLinux
package import Sealing

/// What a search looks for: digests of values in all their forms, under a random key, without the
/// values.
///
/// Each form has an eight-byte window with a 32-bit fingerprint. Where a fingerprint matches, the
/// whole candidate is hashed (BLAKE2b) and compared with the form's digest. Immutable, so that
/// several threads can share it.
@safe
package final class SearchTable: @unchecked Sendable {
    /// The shortest value that can be searched for.
    package static let shortest = 8

    let forms: SearchForms
    let fingerprints: zg_search_table

    package var isEmpty: Bool { forms.patterns.isEmpty }

    /// Computes the digests of values, which are identified by their indices. Does not keep the
    /// values.
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
            // Fingerprint 0 is stored as 1, and must pass the filter in either case.
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
