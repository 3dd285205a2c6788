/// The first sixteen bytes of a name in UTF-8, which put thousands of names in order without a look at most
/// of them: nearly all differ there.
package struct SortableName: Equatable {
    /// The earliest byte in the highest place, and zeros where there are fewer.
    private let (high, low): (UInt64, UInt64)

    /// Takes them from a name.
    package init(_ name: String) {
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
    }

    /// Whether a name stands before another one, by its bytes.
    ///
    /// - Parameter names: Both whole, for where their beginnings are the same.
    package static func precedes(
        _ left: SortableName, _ right: SortableName, _ names: () -> (String, String)
    ) -> Bool {
        if left.high != right.high { return left.high < right.high }
        if left.low != right.low { return left.low < right.low }
        let (left, right) = names()
        return left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
