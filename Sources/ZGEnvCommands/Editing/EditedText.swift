internal import DotEnv
internal import EnvOperations
internal import Sealing

/// The parsed text from the editor.
struct EditedText {
    private let source: PlaintextSource

    /// Parses a text, and refuses one with lines that would be ignored: a typo must not remove a
    /// variable or cut a value.
    ///
    /// - Throws: ``ExitCode/usage`` with the line of the first error.
    init(_ text: borrowing SecretBuffer, onlyKey: String?) throws {
        var options = PlaintextSource.Options()
        options.dialect = .dotenv
        var source = PlaintextSource(options)
        try text.withBytes { try source.read($0, named: "edited text") }
        let refused = source.findings.first { finding in
            switch finding.diagnostic.code {
            case .differsUnterminatedQuote, .duplicateKey, .truncated: true
            case let code: code.isIgnored
            }
        }
        if let refused {
            let place = refused.diagnostic.position
            throw CommandError(
                .usage,
                CommandError.ending(
                    "Line \(place.line), column \(place.column): \(refused.diagnostic.message)"))
        }
        if let onlyKey, let other = source.keys.first(where: { $0 != onlyKey }) {
            throw CommandError(
                .usage,
                "Only \(onlyKey) can be edited here, but the text also sets \(other).")
        }
        for key in source.keys {
            do {
                try VariableName.check(key)
            } catch {
                throw CommandError(.usage, "The text contains an invalid variable name.")
            }
        }
        self.source = source
    }

    /// The keys in the order of the text.
    var keys: [String] { source.keys }

    func value(of key: String) -> SecretSlice? { source.value(of: key) }

    /// Returns warnings about suspicious values of `keys`, and places where parsers disagree.
    func warnings(about keys: Set<String>) -> [(code: String, message: String)] {
        let odd = keys.sorted().flatMap { key in
            (value(of: key)?.withBytes { ValueWarning.warnings(about: $0, of: key) } ?? [])
                .map { ($0.code.rawValue, $0.message) }
        }
        let different = source.findings.filter { finding in
            finding.diagnostic.key.map { keys.contains($0) } ?? false
        }.map { ($0.diagnostic.code.rawValue, CommandError.ending($0.line)) }
        return odd + different
    }
}
