/// The type that a schema gives a value: a name with options.
package struct ValueType: Sendable, Equatable {
    /// The names, as files write them.
    package enum Name: String, Sendable, CaseIterable {
        case string, number, boolean, url, `enum`, email, port, ip, semver, isoDate, uuid, md5
        case simpleObject = "simple-object"
        case duration, array, record
    }

    package var name: Name
    /// Only options that the type has. The members of an `enum` are its option `values`; the type of
    /// an array's elements is `element`, that of a record's values is `values`.
    package var options: [String: OptionValue]

    package init(_ name: Name, options: [String: OptionValue] = [:]) {
        self.name = name
        self.options = options
    }
}

/// The value of a type's option.
package indirect enum OptionValue: Sendable, Equatable {
    case flag(Bool)
    /// A decimal, as written.
    case number(String)
    case text(String)
    case list([String])
    case type(ValueType)
}
