/// How a value stands in a text.
package enum ValueForm: String, CaseIterable, Sendable {
    /// As it is, or with line ends of another kind.
    case plain
    /// In base64 of either alphabet, wherever the text around it begins, with line breaks or without.
    case base64
    /// With percent signs, as in addresses and forms.
    case urlEncoded = "url-encoded"
    /// With backslashes, as in JSON.
    case escaped
    /// In UTF-16 of either byte order, as Windows PowerShell writes what it is told to send to a file.
    case utf16 = "utf-16"
    /// A PEM block whose lines are broken or indented differently.
    case pem
}

/// Something that was found.
package struct ScanMatch: Equatable, Sendable {
    /// Where it begins, from the front of the text.
    package let offset: UInt64
    /// Where it ends.
    package let end: UInt64
    /// The line that it begins on, from 1.
    package let line: UInt64
    /// The number of the value.
    package let value: Int
    /// How the value stands there.
    package let form: ValueForm
}
