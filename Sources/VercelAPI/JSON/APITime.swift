/// A time reported by Vercel. Only compare it with other times from Vercel.
package struct APITime: Hashable, Comparable, Encodable, Sendable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Encodes the milliseconds as a number.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }

    /// Returns whether `left` is earlier.
    package static func < (left: APITime, right: APITime) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
