/// One value of a variable, by an identity that the caller gives. A plan never has a value's bytes.
package struct Version: Hashable, Sendable {
    /// The caller's number of the variable, which keeps it when its name changes.
    package let variable: Int
    package let number: Int
    /// Whether the vault has the value. A version without one stands for what a record holds and
    /// does not show: it equals no other version and cannot be sent.
    package let isReadable: Bool

    package init(variable: Int, number: Int, isReadable: Bool = true) {
        (self.variable, self.number, self.isReadable) = (variable, number, isReadable)
    }
}

/// How a platform keeps a value: the number that the platform gives the type, and whether it shows
/// the value again.
package struct ValueType: Hashable, Sendable {
    package let number: UInt8
    package let isReadable: Bool

    package init(number: UInt8, isReadable: Bool) {
        (self.number, self.isReadable) = (number, isReadable)
    }
}

/// What a target has, or should have.
package struct Content: Hashable, Sendable {
    package var version: Version
    package var type: ValueType
    package var comment: String?

    package init(_ version: Version, _ type: ValueType, comment: String? = nil) {
        (self.version, self.type, self.comment) = (version, type, comment)
    }
}
