/// Reads the dialects of `.env` files.
///
/// Nothing is executed or expanded. The time is linear in the size of the text.
package enum DotEnvReader {
    /// The longest text, in bytes.
    package static let maximumSize = 16 << 20
    /// The most assignments in a text.
    package static let maximumEntries = 1_000_000
    /// The most diagnostics; one more reports the limit.
    package static let maximumDiagnostics = 10_000

    /// Reads a text.
    ///
    /// - Parameters:
    ///   - source: The bytes of the file, borrowed for the call. Values are not copied.
    ///   - diagnoses: Whether to find diagnostics, which takes most of the time of a long text.
    /// - Throws: ``DotEnvError`` for a text that is too long, not UTF-8, contains a NUL, or that
    ///   the dialect refuses. A skipped line is a diagnostic, not an error.
    package static func read(
        _ source: RawSpan, as dialect: DotEnvDialect = .dotenv, diagnoses: Bool = true
    ) throws(DotEnvError) -> DotEnvFile {
        try source.withText { (text) throws(DotEnvError) -> DotEnvFile in
            let survey = try text.survey()
            return try DotEnvReading(text, survey, dialect).file(diagnoses: diagnoses)
        }
    }

    /// Returns `vercel-pull` if the first line is one of the headers of Vercel's CLI.
    package static func detectedDialect(of source: RawSpan) -> DotEnvDialect? {
        source.withText { text in
            let start = text.has("\u{FEFF}", at: 0) ? 3 : 0
            if text.has("# vercel-env: ", at: start) { return .vercelPull }
            let header: StaticString = "# Created by Vercel CLI"
            guard text.has(header, at: start) else { return nil }
            let end = text.lineBreak(from: start, to: text.count)
            return text.trimmingSpaces(from: start, to: end) == start + header.utf8CodeUnitCount
                ? .vercelPull : nil
        }
    }
}
