/// A name that is quickly put in order, by the bytes of its UTF-8: of thousands, nearly all differ in their
/// first sixteen.
struct SortableName: Comparable {
    /// The first bytes, the earliest in the highest place, and zeros where there are fewer.
    private let (high, low): (UInt64, UInt64)
    private let name: String

    init(_ name: String) {
        var name = name
        (high, low) = name.withUTF8 { bytes in
            var first = (0 as UInt64, 0 as UInt64)
            unsafe withUnsafeMutableBytes(of: &first) { target in
                unsafe target.copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes).prefix(16))
                )
            }
            return (UInt64(bigEndian: first.0), UInt64(bigEndian: first.1))
        }
        self.name = name
    }

    static func < (left: SortableName, right: SortableName) -> Bool {
        if left.high != right.high { return left.high < right.high }
        if left.low != right.low { return left.low < right.low }
        return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    static func == (left: SortableName, right: SortableName) -> Bool {
        left.high == right.high && left.low == right.low
            && left.name.utf8.elementsEqual(right.name.utf8)
    }
}
