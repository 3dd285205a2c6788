internal import Glibc

/// The first sixteen bytes of a name in UTF-8, used to sort thousands of names quickly: nearly all
/// differ within them.
package struct SortableName: Equatable {
    /// Big-endian, padded with zeros.
    private let (high, low): (UInt64, UInt64)

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

    /// Returns whether a name precedes another one, by bytes.
    ///
    /// - Parameter names: Returns both full names, if their prefixes are equal.
    package static func precedes(
        _ left: SortableName, _ right: SortableName, _ names: () -> (String, String)
    ) -> Bool {
        if left.high != right.high { return left.high < right.high }
        if left.low != right.low { return left.low < right.low }
        let (left, right) = names()
        return bytesPrecede(left, right)
    }
}

/// Returns whether a string precedes another one by bytes, like all of the index.
package func bytesPrecede(_ left: String, _ right: String) -> Bool { byteOrder(left, right) < 0 }

/// Returns a negative number if the left string precedes the right one by bytes, 0 for the same
/// bytes, otherwise a positive number.
func byteOrder(_ left: String, _ right: String) -> Int {
    var (left, right) = (left, right)
    return left.withUTF8 { left in
        right.withUTF8 { right in
            let count = min(left.count, right.count)
            if count > 0, let first = left.baseAddress, let second = right.baseAddress {
                let order = unsafe memcmp(first, second, count)
                if order != 0 { return Int(order) }
            }
            return left.count - right.count
        }
    }
}
