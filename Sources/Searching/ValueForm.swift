/// The form of a value in a text.
package enum ValueForm: String, CaseIterable, Sendable {
    /// Literally, or with other line ends.
    case plain
    /// In base64 of either alphabet, at any alignment, with or without line breaks.
    case base64
    /// Percent-encoded, as in URLs and forms.
    case urlEncoded = "url-encoded"
    /// With backslash escapes, as in JSON.
    case escaped
    /// In UTF-16 of either byte order, as Windows PowerShell redirects output.
    case utf16 = "utf-16"
    /// A PEM block with different line breaks or indentation.
    case pem
}

/// A value found in a text.
package struct ScanMatch: Equatable, Sendable {
    /// The byte offset of the match.
    package let offset: UInt64
    /// The byte offset of its end.
    package let end: UInt64
    /// The line where it starts, from 1.
    package let line: UInt64
    /// The number of the value.
    package let value: Int
    package let form: ValueForm
}
