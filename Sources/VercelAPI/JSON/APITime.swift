/// A moment as the platform gives it. Only compared with other moments of the platform.
package struct APITime: Hashable, Comparable, Encodable, Sendable {
    /// Milliseconds since 1970.
    package let milliseconds: Int64

    /// Wraps a number of milliseconds since 1970.
    package init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Writes the number.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }

    /// Whether `left` is earlier.
    package static func < (left: APITime, right: APITime) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
