/// Validates UTF-8 without creating a string.
package enum UTF8Check {
    /// Returns whether the bytes are valid UTF-8 (Unicode, table 3-7): no surrogates, no overlong
    /// forms, nothing above U+10FFFF.
    package static func isValid(_ bytes: RawSpan) -> Bool {
        unsafe bytes.withUnsafeBytes { buffer in
            unsafe (try? UTF8Span(validating: Span(_unsafeBytes: buffer))) != nil
        }
    }
}
